#include "compiler/driver/driver.h"
#include "compiler/driver/files.h"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <unistd.h>

namespace kft::driver {

bool wantsColor(int fileDescriptor) {
  const char *noColor = std::getenv("NO_COLOR");
  if (noColor && *noColor) return false;
  const char *term = std::getenv("TERM");
  return ::isatty(fileDescriptor) && term && llvm::StringRef(term) != "dumb";
}

Session::Session(render::Format format)
    : format_(format), renderer_(format, format == render::Format::Text && wantsColor(STDERR_FILENO)) {}

bool Session::show(const Compilation &compilation) {
  // Standard error that cannot be written leaves nobody to tell.
  (void)writeAll(STDERR_FILENO, renderer_.add(compilation.diags, compilation.sources));
  hasErrors_ |= compilation.diags.hasErrors();
  return compilation.diags.hasErrors();
}

void Session::finish() { (void)writeAll(STDERR_FILENO, renderer_.finish()); }

bool Session::writeStdout(llvm::StringRef text) {
  std::error_code error = writeAll(STDOUT_FILENO, text);
  if (!error || error == std::errc::broken_pipe) return true;
  report(diag::CannotWriteOutput{.file = "standard output", .reason = error.message()});
  return false;
}

void addInputOptions(CLI::App &app, Options &options) {
  app.add_option_function<std::vector<std::string>>(
         "--set",
         [&options](const std::vector<std::string> &values) {
           for (const std::string &value : values) {
             size_t equals = value.find('=');
             if (equals == std::string::npos || equals == 0)
               throw CLI::ValidationError("--set", "`" + value + "` is not of the form name=value");
             options.set.emplace_back(value.substr(0, equals), value.substr(equals + 1));
           }
         },
         "value of a parameter; may be repeated, a later one wins")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->expected(1)
      ->group("Input");
  app.add_option("--params", options.paramFiles, "values of parameters from a YAML, JSON or kft file")
      ->type_name("FILE")
      ->expected(1)
      ->take_all()
      ->group("Input");
  app.add_option("--profile", options.profiles, "apply a profile of the file; several in order")
      ->type_name("NAME")
      ->expected(1)
      ->take_all()
      ->delimiter(',')
      ->group("Input");
}

void addJobOption(CLI::App &app, Options &options) {
  app.add_option("--job", options.jobs, "only this job; may be repeated")
      ->type_name("NAME")
      ->expected(1)
      ->take_all()
      ->delimiter(',')
      ->group("Input");
}

} // namespace kft::driver
