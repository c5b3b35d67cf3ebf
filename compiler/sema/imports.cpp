// Other modules, through the loader. Everything a file can reach, an import, `read` or a link, stays inside its project: the
// nearest folder at or above it that has a `kft.project` file, else its own folder. Paths are compared after symbolic links
// are resolved, so a link cannot lead out either.
#include "compiler/sema/eval.h"
#include "compiler/sema/stdlib.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

namespace kft::sema {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string Analyzer::projectOf(StringRef directory) {
  for (StringRef at = directory; !at.empty(); at = path::parent_path(at)) {
    llvm::SmallString<256> marker(at);
    path::append(marker, "kft.project");
    if (fs::exists(marker)) return at.str();
  }
  return directory.str();
}

ModuleScope *Analyzer::load(FileId file, const ast::Module &syntax, StringRef shownName) {
  modules.push_back(std::make_unique<ModuleScope>());
  ModuleScope &scope = *modules.back();
  scope.file = file;
  scope.syntax = &syntax;
  scope.shownName = shownName.str();
  StringRef real = compilation.sources.path(file);
  if (!real.empty()) {
    scope.directory = path::parent_path(real).str();
  } else {
    // Standard input and text without a file: relative paths start at the working directory.
    llvm::SmallString<256> current, resolved;
    if (!fs::current_path(current) && !fs::real_path(current, resolved)) scope.directory = resolved.str().str();
  }
  scope.project = projectOf(scope.directory);
  return &scope;
}

ModuleScope *Analyzer::loadMain(const ast::Module &module) {
  main = load(module.file, module, path::stem(compilation.sources.name(module.file)));
  main->isMain = true;
  loadImports(*main);
  return main;
}

void Analyzer::loadImports(ModuleScope &module) {
  module.loading = State::Active;
  loadStack_.push_back(&module);
  collect(module);
  for (Symbol *symbol : module.symbolOrder) {
    if (symbol->kind != Symbol::Kind::Import) continue;
    const auto &import = *ast::as<ast::Import>(symbol->stmt);
    symbol->imported = import.module ? loadStd(import) : loadFile(module, import);
  }
  loadStack_.pop_back();
  module.loading = State::Done;
  loadOrder.push_back(&module);
}

ModuleScope *Analyzer::loadStd(const ast::Import &import) {
  ArrayRef<ast::Name> parts = import.module->parts;
  for (const ast::Name &part : parts)
    if (part.text.empty()) return nullptr; // reported by the parser
  if (parts[0].text != "std") {
    if (parts.size() == 1 && llvm::is_contained(stdlib::names(), parts[0].text)) {
      std::string module = "std." + parts[0].text.str();
      diags.report(import.module->range, diag::NotInStd{.name = parts[0].text}).fixit(import.module->range, module, diag::DidYouMean{.name = module});
      return nullptr;
    }
    std::string file = "./" + parts.back().text.str() + ".kft", fixed = "\"" + file + "\"";
    diags.report(import.module->range, diag::NotInStd{.name = parts[0].text}).fixit(import.module->range, fixed, diag::ImportByPath{.file = file});
    return nullptr;
  }
  if (parts.size() == 1) {
    std::string all;
    for (StringRef name : stdlib::names()) all += (all.empty() ? "`std." : ", `std.") + name.str() + "`";
    diags.report(import.module->range, diag::WholeStd{.names = all});
    return nullptr;
  }
  StringRef name = parts[1].text;
  auto known = stdModules_.find(name);
  if (known != stdModules_.end() && parts.size() == 2) return known->second;
  StringRef source = parts.size() == 2 ? stdlib::source(name) : StringRef();
  if (!source.data()) {
    std::string whole = name.str();
    for (const ast::Name &part : parts.drop_front(2)) whole += "." + part.text.str();
    SourceRange range = join(parts[1].range, parts.back().range);
    auto report = diags.report(range, diag::UnknownStdModule{.name = whole});
    StringRef near = nearestName(name, stdlib::names());
    if (!near.empty()) report.fixit(range, near, diag::DidYouMean{.name = near});
    return nullptr;
  }
  FileId file = compilation.sources.add("std/" + name.str() + ".kft", source.str());
  const ast::Module &syntax = compilation.parse(file);
  ModuleScope *scope = load(file, syntax, arena.save("std." + name.str()));
  scope->isStd = true;
  scope->directory.clear();
  stdModules_[arena.save(name)] = scope;
  loadImports(*scope);
  return scope;
}

Analyzer::Where Analyzer::locate(ModuleScope &from, StringRef wanted, std::string &real) {
  llvm::SmallString<256> full;
  if (path::is_absolute(wanted)) {
    full = wanted;
  } else {
    full = from.directory;
    path::append(full, wanted);
  }
  // What the text says must be inside even where nothing exists: otherwise an answer "not found" tells about the outside.
  llvm::SmallString<256> lexical(full);
  path::remove_dots(lexical, /*remove_dot_dot=*/true);
  auto inside = [&](StringRef file) {
    StringRef project = from.project;
    return file.startswith(project) && (file.size() == project.size() || project.endswith("/") || file[project.size()] == '/');
  };
  llvm::SmallString<256> resolved;
  if (fs::real_path(full, resolved)) return inside(lexical) ? Where::Missing : Where::Outside;
  real = resolved.str().str();
  return inside(resolved) ? Where::Fine : Where::Outside;
}

// The names in the folder of `wanted` that could have been meant.
static std::string nearFile(StringRef directory, StringRef wanted, StringRef extension) {
  llvm::SmallString<256> folder(directory);
  path::append(folder, path::parent_path(wanted));
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; at != end && !error && names.size() < 10'000; at.increment(error)) {
    StringRef name = path::filename(at->path());
    if (extension.empty() || name.endswith(extension)) names.push_back(name.str());
  }
  llvm::SmallVector<StringRef, 32> candidates(names.begin(), names.end());
  llvm::sort(candidates); // folders list their files in any order; messages do not
  StringRef near = nearestName(path::filename(wanted), candidates);
  if (near.empty() && !extension.empty() && llvm::is_contained(candidates, (path::filename(wanted) + extension).str()))
    return wanted.str() + extension.str();
  if (near.empty()) return {};
  StringRef head = wanted.drop_back(path::filename(wanted).size());
  return head.str() + near.str();
}

ModuleScope *Analyzer::loadFile(ModuleScope &from, const ast::Import &import) {
  StringRef wanted = import.file.text;
  if (wanted.empty()) {
    if (import.file.range.valid() && compilation.sources.text(import.file.range) == "\"\"")
      diags.report(import.file.range, diag::ImportNotFound{.file = wanted, .reason = "it names no file"});
    return nullptr;
  }
  if (from.isStd) {
    diags.report(import.file.range, diag::ImportNotFound{.file = wanted, .reason = "the standard library has no files"});
    return nullptr;
  }
  std::string real;
  switch (locate(from, wanted, real)) {
  case Where::Outside:
    diags.report(import.file.range, diag::OutsideProject{.file = wanted}).note(diag::ProjectRoot{});
    return nullptr;
  case Where::Missing: {
    auto report = diags.report(import.file.range, diag::ImportNotFound{.file = wanted, .reason = "there is no such file"});
    std::string near = nearFile(from.directory, wanted, ".kft");
    if (!near.empty()) report.fixit(import.file.range, "\"" + near + "\"", diag::DidYouMean{.name = near});
    return nullptr;
  }
  case Where::Fine: break;
  }
  for (auto &module : modules)
    if (compilation.sources.path(module->file) == real) {
      if (module->loading == State::Active) {
        reportImportCycle(*module, import.file.range);
        return nullptr;
      }
      return module.get();
    }
  // Shown as the user would reach it from where they stand: beside the importing file.
  llvm::SmallString<256> shown(path::parent_path(compilation.sources.name(from.file)));
  path::append(shown, wanted);
  path::remove_dots(shown, true);
  auto file = compilation.sources.load(real, shown);
  if (!file) {
    std::string reason = llvm::toString(file.takeError());
    diags.report(import.file.range, diag::ImportNotFound{.file = wanted, .reason = reason});
    return nullptr;
  }
  const ast::Module &syntax = compilation.parse(*file);
  ModuleScope *scope = load(*file, syntax, path::stem(wanted));
  loadImports(*scope);
  return scope;
}

void Analyzer::reportImportCycle(ModuleScope &target, SourceRange at) {
  std::string cycle;
  bool on = false;
  for (ModuleScope *module : loadStack_) {
    on |= module == &target;
    if (on) cycle += "`" + compilation.sources.name(module->file).str() + "` → ";
  }
  cycle += "`" + compilation.sources.name(target.file).str() + "`";
  diags.report(at, diag::ImportCycle{.cycle = cycle});
}

const std::string *Analyzer::readFile(ModuleScope &from, StringRef wanted, SourceRange at) {
  if (from.isStd) {
    diags.report(at, diag::CannotRead{.file = wanted, .reason = "the standard library reads no files"});
    return nullptr;
  }
  std::string real;
  switch (locate(from, wanted, real)) {
  case Where::Outside:
    diags.report(at, diag::OutsideProject{.file = wanted}).note(diag::ProjectRoot{});
    return nullptr;
  case Where::Missing: {
    auto report = diags.report(at, diag::CannotRead{.file = wanted, .reason = "there is no such file"});
    std::string near = nearFile(from.directory, wanted, "");
    if (!near.empty()) report.note(diag::DidYouMean{.name = near});
    return nullptr;
  }
  case Where::Fine: break;
  }
  for (auto &[name, content] : readFiles_)
    if (name == real) return content.get();
  auto file = compilation.sources.load(real, real);
  if (!file) {
    std::string reason = llvm::toString(file.takeError());
    diags.report(at, diag::CannotRead{.file = wanted, .reason = reason});
    return nullptr;
  }
  StringRef content = compilation.sources.text(*file);
  if (!llvm::json::isUTF8(content)) {
    diags.report(at, diag::CannotRead{.file = wanted, .reason = "it is no UTF-8 text"});
    return nullptr;
  }
  readFiles_.emplace_back(real, std::make_unique<std::string>(content.str()));
  return readFiles_.back().second.get();
}

} // namespace kft::sema
