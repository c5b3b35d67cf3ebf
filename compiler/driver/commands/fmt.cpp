// kftc fmt: the one canonical layout. A file with mistakes is left as it is.
#include "compiler/driver/driver.h"
#include "compiler/driver/files.h"
#include "compiler/driver/pipeline.h"
#include "compiler/format/format.h"

#include <CLI/CLI.hpp>

namespace kft::driver {

namespace {
struct FmtOptions {
  std::vector<std::string> files;
  bool check = false;
};
} // namespace

Action addFmt(CLI::App &app) {
  auto options = std::make_shared<FmtOptions>();
  app.add_option("FILE", options->files, "files to format in place; `-` formats standard input to standard output")->required();
  app.add_flag("--check", options->check, "change nothing; name the files that would change and exit with 3");
  return [options](Session &session) -> int {
    bool differs = false;
    for (const std::string &file : options->files) {
      auto compilation = newCompilation({});
      const ast::Module *module = parseFile(file, *compilation);
      if (!module) {
        session.show(*compilation);
        continue;
      }
      std::string formatted = format::format(*module, compilation->sources);
      bool changed = formatted != compilation->sources.text(module->file);
      differs |= changed;
      if (options->check) {
        if (changed && !session.writeStdout(file + "\n")) break;
      } else if (file == "-") {
        if (!session.writeStdout(formatted)) break;
      } else if (changed) {
        if (llvm::Error error = writeFile(file, formatted))
          session.report(diag::CannotWriteOutput{.file = file, .reason = llvm::toString(std::move(error))});
      }
    }
    return session.hasErrors() ? ExitMistakes : options->check && differs ? ExitDifferences : ExitFine;
  };
}

} // namespace kft::driver
