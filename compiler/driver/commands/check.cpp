// kftc check: every diagnostic of every file, and nothing else.
#include "compiler/driver/driver.h"
#include "compiler/driver/pipeline.h"

#include <CLI/CLI.hpp>

namespace kft::driver {

namespace {
struct CheckOptions {
  std::vector<std::string> files;
  Options input;
};
} // namespace

Action addCheck(CLI::App &app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("FILE", options->files, "files to check; `-` is standard input")->required();
  addInputOptions(app, options->input);
  return [options](Session &session) -> int {
    for (const std::string &file : options->files) {
      // A compilation each: files that are checked together do not see each other.
      auto compilation = newCompilation(options->input);
      if (std::optional<ir::Program> program = lowerFile(file, *compilation))
        for (const ir::Job &job : program->jobs) makePlan(job, *compilation);
      session.show(*compilation);
    }
    return session.exitCode();
  };
}

} // namespace kft::driver
