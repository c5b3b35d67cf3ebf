// A diagnostic as people and programs read it: terminal text, JSON or SARIF. Positions become lines and columns here and
// nowhere else.
#pragma once

#include "compiler/basic/diagnostics.h"
#include "compiler/basic/source_files.h"

#include <memory>
#include <string>

namespace kft::render {

enum class Format : uint8_t { Text, Json, Sarif };

// One diagnostic with everything resolved: source lines, carets, notes, fixes. Ends with a newline.
std::string text(const Diagnostic &diagnostic, const SourceFiles &sources, bool color = false);

// Collects what one run of the program has to say, from any number of compilations.
class Renderer {
public:
  explicit Renderer(Format format, bool color = false, size_t maxErrors = 50);
  ~Renderer();

  // Everything that `diags` holds, by file and position. What was said before (a module that two files import) is not
  // repeated. Gives the text to show now; JSON and SARIF come whole from `finish`.
  std::string add(const Diagnostics &diags, const SourceFiles &sources);
  // The end of the output: how many errors were not shown; the JSON array; the SARIF log.
  std::string finish();

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace kft::render
