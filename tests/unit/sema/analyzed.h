// A source, analyzed, and what a test asks of it.
#pragma once

#include "compiler/parse/parse.h"
#include "compiler/sema/module.h"

#include <memory>
#include <string>

namespace kft::sema {

struct Result {
  std::unique_ptr<Compilation> compilation = std::make_unique<Compilation>();
  Module module;

  // `KFT3008 «+»` for each mistake, in order of place.
  std::string mistakes() const {
    std::string text;
    for (const Diagnostic &item : compilation->diags.sorted()) {
      text += "KFT" + std::to_string(item.id);
      if (item.range.valid()) text += " «" + compilation->sources.text(item.range).str() + "»";
      text += "\n";
    }
    return text;
  }
  std::string notes() const {
    std::string text;
    for (const Diagnostic &item : compilation->diags.sorted())
      for (const Note &note : item.notes) text += note.message + "\n";
    return text;
  }
  std::string fix() const {
    for (const Diagnostic &item : compilation->diags.all())
      if (!item.fixes.empty()) return item.fixes[0].text;
    return {};
  }
  std::string field(StringRef decl, StringRef key) const {
    for (const Decl *each : module.decls)
      if (each->name == decl && each->raw.is(ValueKind::Block))
        if (const Entry *entry = each->raw.asBlock().find(key)) return show(entry->value, 1000);
    return "(absent)";
  }
};

inline Result analyzed(std::string source, Options options = {}) {
  Result result;
  Compilation &compilation = *result.compilation;
  compilation.options = std::move(options);
  compilation.parse = [&compilation](FileId file) -> const ast::Module & { return parse::module(file, compilation); };
  FileId file = compilation.sources.add("test.kft", std::move(source));
  result.module = analyze(parse::module(file, compilation), compilation);
  return result;
}

// A file on disk, with all that it imports.
inline Result analyzedFile(const std::string &path, Options options = {}) {
  Result result;
  Compilation &compilation = *result.compilation;
  compilation.options = std::move(options);
  compilation.parse = [&compilation](FileId file) -> const ast::Module & { return parse::module(file, compilation); };
  FileId file = llvm::cantFail(compilation.sources.load(path));
  result.module = analyze(parse::module(file, compilation), compilation);
  return result;
}

} // namespace kft::sema
