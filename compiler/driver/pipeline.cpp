#include "compiler/driver/pipeline.h"

#include "compiler/driver/files.h"
#include "compiler/parse/parse.h"

namespace kft::driver {

std::unique_ptr<Compilation> newCompilation(const Options &options) {
  auto compilation = std::make_unique<Compilation>();
  compilation->options = options;
  Compilation *self = compilation.get();
  compilation->parse = [self](FileId file) -> const ast::Module & { return parse::module(file, *self); };
  return compilation;
}

std::optional<FileId> load(llvm::StringRef path, Compilation &compilation) {
  if (path == "-") {
    llvm::Expected<std::string> text = readStdin();
    if (text) return compilation.sources.add("<stdin>", std::move(*text));
    compilation.diags.report(SourceRange{},
                             diag::CannotReadInput{.file = "standard input", .reason = llvm::toString(text.takeError())});
    return std::nullopt;
  }
  llvm::Expected<FileId> file = compilation.sources.load(path);
  if (file) return *file;
  compilation.diags.report(SourceRange{}, diag::CannotReadInput{.file = path, .reason = llvm::toString(file.takeError())});
  return std::nullopt;
}

const ast::Module *parseFile(llvm::StringRef path, Compilation &compilation) {
  std::optional<FileId> file = load(path, compilation);
  if (!file) return nullptr;
  const ast::Module &module = compilation.parse(*file);
  return compilation.diags.hasErrors() ? nullptr : &module;
}

} // namespace kft::driver
