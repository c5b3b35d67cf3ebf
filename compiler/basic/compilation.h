// The bundle that phases receive: one per command (tests in files make one per test).
#pragma once

#include "compiler/basic/arena.h"
#include "compiler/basic/diagnostics.h"
#include "compiler/basic/source_files.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kft {

namespace ast {
struct Module;
}

struct Options {
  std::vector<std::pair<std::string, std::string>> set; // --set name=value, in order; a later one wins
  std::vector<std::string> paramFiles;                  // --params, in order
  std::vector<std::string> profiles;                    // --profile, in order
  std::vector<std::string> jobs;                        // --job; empty means every job
};

struct Compilation {
  SourceFiles sources;
  Arena arena;
  Diagnostics diags;
  Options options;
  // Parses a file that `sources` holds. Set by the driver, because sema sees the tree and not the parser.
  std::function<const ast::Module &(FileId)> parse;
};

} // namespace kft
