// `--profile laptop`: amendments of declarations of the file, put on top of what they are, in the order of the command line.
#include "compiler/sema/eval.h"
#include "compiler/sema/schema.h"

namespace kft::sema {

namespace {
const ast::Stmt *underAnnotations(const ast::Stmt *stmt) {
  while (const auto *annotation = ast::as<ast::Annotation>(stmt)) stmt = annotation->target;
  return stmt;
}
} // namespace

// Profiles stand at the top of the file, never under a condition: they decide the params that conditions read.
void Analyzer::chooseProfiles(ModuleScope &module) {
  llvm::DenseMap<StringRef, const ast::Decl *> known;
  for (const ast::Stmt *stmt : module.syntax->stmts)
    if (const auto *decl = ast::as<ast::Decl>(underAnnotations(stmt)))
      if (decl->kindName.text == "profile" && !decl->name.text.empty()) known.try_emplace(decl->name.text, decl);

  llvm::DenseSet<const ast::Decl *> used;
  // A profile that extends another has its statements, and then its own.
  auto add = [&](auto &self, const ast::Decl *decl, int level) -> void {
    if (level > 100) return; // a circle: `extends` reports it
    if (decl->base && decl->base->parts.size() == 2 && decl->base->parts[0].text == "profile") {
      auto base = known.find(decl->base->parts[1].text);
      if (base != known.end() && base->second != decl) self(self, base->second, level + 1);
    }
    if (used.insert(decl).second) profiles.push_back({decl, nullptr});
  };
  for (const std::string &name : compilation.options.profiles) {
    auto found = known.find(name);
    if (found != known.end()) {
      add(add, found->second, 0);
      continue;
    }
    llvm::SmallVector<StringRef, 8> candidates;
    for (const auto &each : known) candidates.push_back(each.first);
    llvm::sort(candidates);
    auto report = diags.report(SourceRange(), diag::UnknownProfile{.name = name});
    StringRef near = nearestName(name, candidates);
    if (!near.empty()) {
      report.note(diag::DidYouMean{.name = near});
    } else if (!candidates.empty()) {
      std::string all;
      for (StringRef each : candidates) all += (all.empty() ? "`" : ", `") + each.str() + "`";
      report.note(diag::ThereAre{.names = all});
    }
  }
}

void Analyzer::applyProfiles(ModuleScope &module) {
  for (const ActiveProfile &profile : profiles) {
    const Env *env = withLets(nullptr, profile.decl->block->stmts, nullptr, nullptr);
    // `kind { … }` first: what is said about one declaration is nearer than what is said about all.
    for (bool one : {false, true})
      for (const ast::Stmt *outer : profile.decl->block->stmts) {
        const auto *field = ast::as<ast::BlockField>(underAnnotations(outer));
        if (!field) continue;
        ArrayRef<ast::Name> parts = field->target.parts;
        StringRef kind = parts[0].text;
        if (!schema::isKindName(kind) || parts.size() > 2 || (parts.size() == 2) != one) continue;
        Layer layer;
        layer.fragments.push_back({field->block->stmts, 0, env, {}});
        layer.range = field->block->range;
        if (one) {
          auto decl = module.decls.find({kind, parts[1].text});
          if (decl != module.decls.end()) decl->second->amendments->push_back(layer);
          continue;
        }
        for (DeclInfo *decl : module.order)
          if (decl->kind == kind) decl->amendments->push_back(layer);
      }
    for (const ast::Stmt *outer : profile.decl->block->stmts)
      if (const auto *assertion = ast::as<ast::Assert>(underAnnotations(outer))) checkAssert(*assertion, {env, nullptr});
  }
}

} // namespace kft::sema
