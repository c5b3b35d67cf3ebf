// What every command shares: the session (diagnostics, output), the exit codes, and how a command registers itself.
//
// To add a command `frob`:
//   1. a row in commands.def:  KFT_COMMAND(frob, Frob, "Group", "one line of help")
//   2. commands/frob.cpp with   Action kft::driver::addFrob(CLI::App &app)
//      that puts its options on `app` (addInputOptions gives --set, --params, --profile) and returns what to do:
//
//        Action addFrob(CLI::App &app) {
//          auto options = std::make_shared<FrobOptions>();
//          app.add_option("FILE", options->file, "the file to frob")->required();
//          addInputOptions(app, options->input);
//          return [options](Session &session) -> int { ... return exitCode(...); };
//        }
//   3. the file in CMakeLists.txt.
// Commands use pipeline.h for the arrows of the compiler, Session::show for what a compilation found, Session::report for
// mistakes without a file, writeStdout and writeFile for results. Help, completion and near misses follow by themselves.
#pragma once

#include "compiler/basic/compilation.h"
#include "compiler/basic/render.h"

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace kft::driver {

enum ExitCode : int { ExitFine = 0, ExitMistakes = 1, ExitUsage = 2, ExitDifferences = 3, ExitFault = 4 };

class Session {
public:
  explicit Session(render::Format format);

  // Writes what the compilation found to standard error (JSON and SARIF wait for the end). True when it has errors.
  bool show(const Compilation &compilation);
  // A mistake that belongs to no compilation.
  template <typename D>
  void report(const D &row) {
    Compilation compilation;
    compilation.diags.report(SourceRange{}, row);
    show(compilation);
  }
  template <typename D, typename N>
  void report(const D &row, const N &note) {
    Compilation compilation;
    compilation.diags.report(SourceRange{}, row).note(note);
    show(compilation);
  }
  // The end of the diagnostics; called once by main.
  void finish();

  bool hasErrors() const { return hasErrors_; }
  // ExitMistakes when an error was shown, else ExitFine.
  int exitCode() const { return hasErrors_ ? ExitMistakes : ExitFine; }
  // Writes results to standard output. False after a report; a reader that went away (`| head`) is no mistake.
  bool writeStdout(llvm::StringRef text);
  render::Format format() const { return format_; }

private:
  render::Format format_;
  render::Renderer renderer_;
  bool hasErrors_ = false;
};

// Colours on this stream: it is a terminal that knows them, and NO_COLOR is not set.
bool wantsColor(int fileDescriptor);

using Action = std::function<int(Session &)>;

#define KFT_COMMAND(name, Name, group, help) Action add##Name(CLI::App &app);
#include "compiler/driver/commands.def"

// --set, --params, --profile, into the options of a Compilation.
void addInputOptions(CLI::App &app, Options &options);
// --job as well.
void addJobOption(CLI::App &app, Options &options);

} // namespace kft::driver
