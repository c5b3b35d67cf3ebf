// kftc compile: the objects a cluster is given, or any stage before them.
#include "compiler/driver/driver.h"
#include "compiler/driver/pipeline.h"

#include <CLI/CLI.hpp>

namespace kft::driver {

namespace {
struct CompileOptions {
  std::string file;
  Options input;
  std::vector<std::string> emit;
};
} // namespace

Action addCompile(CLI::App &app) {
  auto options = std::make_shared<CompileOptions>();
  app.add_option("FILE", options->file, "the file to compile; `-` is standard input")->required();
  addInputOptions(app, options->input);
  addJobOption(app, options->input);
  return [options](Session &session) -> int {
    auto compilation = newCompilation(options->input);
    parseFile(options->file, *compilation);
    session.show(*compilation);
    return session.exitCode();
  };
}

} // namespace kft::driver
