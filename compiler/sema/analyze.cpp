// The order of things: load, bind, give params their values, make the declarations that `if` and `for` stand for, put
// profiles on top, compute every value, check it against the schema. Each step needs all modules to have passed the one
// before; from the schema check on, nothing changes any more.
#include "compiler/sema/check.h"
#include "compiler/sema/eval.h"
#include "compiler/sema/schema.h"

namespace kft::sema {

namespace {
StringRef plainText(const ast::Expr *expr) {
  const auto *literal = ast::as<ast::StringLiteral>(expr);
  return literal && literal->parts.size() == 1 && !literal->parts[0].value ? literal->parts[0].text : StringRef();
}
} // namespace

// ---- declarations of a module ----

namespace {
struct Expander {
  Analyzer &a;
  ModuleScope &module;

  void body(ArrayRef<const ast::Stmt *> stmts, const Env *env) {
    env = a.withLets(nullptr, stmts, env, nullptr);
    for (const ast::Stmt *stmt : stmts) statement(stmt, env);
  }

  void statement(const ast::Stmt *stmt, const Env *env) {
    bool isAbstract = false;
    const Deprecation *deprecated = nullptr;
    StringRef allow;
    while (const auto *annotation = ast::as<ast::Annotation>(stmt)) {
      StringRef name = annotation->name.text;
      if (name == "abstract") isAbstract = true;
      if (name == "allow" && !annotation->args.empty()) {
        StringRef id = plainText(annotation->args[0].value);
        allow = allow.empty() ? id : a.arena.save((allow + " " + id).str());
      }
      if (name == "deprecated") {
        Deprecation *row = a.arena.make<Deprecation>();
        for (const ast::Argument &arg : annotation->args) (arg.name.text == "since" ? row->since : row->use) = plainText(arg.value);
        deprecated = row;
      }
      stmt = annotation->target;
    }
    if (!stmt) return;
    if (const auto *node = ast::as<ast::If>(stmt)) {
      for (; node; node = ast::as<ast::If>(node->elseIf)) {
        bool holds = false;
        if (!a.truth(*node->condition, {env, nullptr}, holds)) {
          module.uncertain = true;
          return;
        }
        if (holds) return body(node->then->stmts, env);
        if (node->otherwise) return body(node->otherwise->stmts, env);
      }
      return;
    }
    if (const auto *loop = ast::as<ast::For>(stmt)) {
      std::vector<const Env *> rounds;
      if (!a.iterate(loop->binding, {env, nullptr}, rounds)) module.uncertain = true;
      for (const Env *round : rounds) body(loop->block->stmts, round);
      return;
    }
    if (const auto *assertion = ast::as<ast::Assert>(stmt)) {
      module.asserts.push_back({assertion, env});
      return;
    }
    const auto *syntax = ast::as<ast::Decl>(stmt);
    if (!syntax || !schema::isKindName(syntax->kindName.text)) return;
    if (!schema::find(syntax->kindName.text)) return; // of a later edition
    StringRef name = syntax->name.text;
    if (syntax->interpolatedName) {
      Value value = a.eval(*syntax->interpolatedName, {env, nullptr});
      if (!value.is(ValueKind::String)) {
        module.uncertain = true;
        return;
      }
      name = value.asString();
    }
    if (name.empty()) {
      if (syntax->interpolatedName || syntax->name.quoted) a.diags.report(syntax->interpolatedName ? syntax->interpolatedName->range : syntax->name.range, diag::EmptyName{});
      return;
    }
    DeclInfo *decl = a.makeDecl();
    decl->kind = syntax->kindName.text;
    decl->name = name;
    decl->nameRange = syntax->interpolatedName ? syntax->interpolatedName->range : syntax->name.range;
    decl->range = syntax->range;
    decl->file = module.file;
    decl->doc = syntax->doc;
    decl->isAbstract = isAbstract;
    decl->isImported = !module.isMain;
    decl->scope = &module;
    decl->syntax = syntax;
    decl->env = env;
    decl->deprecated = deprecated;
    decl->allow = allow;
    auto [known, isNew] = module.decls.try_emplace({decl->kind, name}, decl);
    if (!isNew) {
      std::string full = decl->kind.str() + "." + name.str();
      auto report = a.diags.report(decl->nameRange, diag::DuplicateDecl{.name = full});
      if (known->second->nameRange == decl->nameRange) {
        std::string changing = decl->kind.str() + " \"" + name.str() + "-\\(i)\"";
        report.note(diag::NameInLoop{.text = changing});
      } else {
        report.note(known->second->nameRange, diag::FirstGivenHere{});
      }
      return;
    }
    module.declsByName[name].push_back(decl);
    module.order.push_back(decl);
  }
};
} // namespace

void Analyzer::expand(ModuleScope &module) {
  if (module.expansion != State::New) return;
  module.expansion = State::Active;
  Expander expander{*this, module};
  for (const ast::Stmt *stmt : module.syntax->stmts) expander.statement(stmt, nullptr);
  module.expansion = State::Done;
}

void Analyzer::checkModule(ModuleScope &module) {
  // A record type's own name decides nothing here; lets are computed even when nobody reads them.
  for (Symbol *symbol : module.symbolOrder)
    if (symbol->kind == Symbol::Kind::Let) deep(forceSymbol(*symbol, symbol->range));
  for (auto [assertion, env] : module.asserts) checkAssert(*assertion, {env, nullptr});
}

void Analyzer::checkDecl(DeclInfo &decl) {
  if (decl.checked) return;
  decl.checked = true;
  Object *object = objectOf(decl, decl.nameRange);
  decl.raw = object ? materialize(*object, decl.allow) : Value::poison();
  if (decl.broken) decl.raw = Value::poison();
}

void Analyzer::noteUsed(const Value &value, llvm::DenseSet<const Decl *> &seen, std::vector<const Decl *> &found) {
  switch (value.kind()) {
  case ValueKind::List:
    for (const Item &item : value.asList()) noteUsed(item.value, seen, found);
    break;
  case ValueKind::Block:
    for (const Entry &entry : value.asBlock().entries) noteUsed(entry.value, seen, found);
    break;
  case ValueKind::Ref:
    if (seen.insert(&value.asRef()).second) found.push_back(&value.asRef());
    break;
  default: break;
  }
}

Module Analyzer::run(const ast::Module &syntax, const TestRun *testRun) {
  test = testRun;
  Module result;
  result.syntax = &syntax;
  ModuleScope &module = *loadMain(syntax);
  for (ModuleScope *each : loadOrder) resolve(*each);
  checkRecursion();
  for (auto [member, expr] : memberDefaults) {
    Value value = deep(eval(*expr, {}));
    member->fallback = reported.contains(expr) ? Value::poison() : convertTo(value, *member->type, expr->range, "`" + member->name + "`");
  }
  chooseProfiles(module);
  assignParams(module);
  // Imports come first in the order of loading, so that a condition can look into them.
  for (ModuleScope *each : loadOrder) expand(*each);
  checkDeclRefs();
  applyProfiles(module);
  for (ModuleScope *each : loadOrder)
    if (!each->isStd) checkModule(*each);

  std::vector<Decl *> all;
  std::vector<const Decl *> decls, used, imported;
  llvm::DenseSet<const Decl *> seen;
  for (DeclInfo *decl : module.order) {
    seen.insert(decl);
    decls.push_back(decl);
    if (decl->kind == "profile" || decl->kind == "test") continue;
    checkDecl(*decl);
    all.push_back(decl);
    noteUsed(decl->raw, seen, used);
  }
  // What is referred to may refer to more.
  for (size_t i = 0; i < used.size(); ++i) {
    DeclInfo &decl = const_cast<DeclInfo &>(static_cast<const DeclInfo &>(*used[i]));
    if (decl.kind == "profile" || decl.kind == "test") continue;
    checkDecl(decl);
    all.push_back(&decl);
    imported.push_back(&decl);
    noteUsed(decl.raw, seen, used);
  }
  check(all, compilation);
  if (!test) judgeTests();
  if (!diags.all().empty()) diags.dropRepeated();
  result.decls = arena.copy<const Decl *>(decls);
  result.imported = arena.copy<const Decl *>(imported);
  finished = result;

  if (test && !diags.hasErrors())
    for (DeclInfo *decl : module.order) {
      if (decl->kind != "test" || decl->name != test->name) continue;
      const Env *env = withLets(nullptr, decl->syntax->block->stmts, decl->env, nullptr);
      for (const ast::Stmt *stmt : decl->syntax->block->stmts) {
        while (const auto *annotation = ast::as<ast::Annotation>(stmt)) stmt = annotation->target;
        if (const auto *assertion = ast::as<ast::Assert>(stmt)) checkAssert(*assertion, {env, nullptr});
      }
    }
  return result;
}

// ---- tests in files ----

std::vector<TestCase> Analyzer::listTests(const ast::Module &syntax) {
  run(syntax, nullptr);
  return std::move(testCases);
}

// What the tests use and set, judged where it stands whether they are run or not.
void Analyzer::judgeTests() {
  auto fits = [&](ModuleScope &module, const Entry &entry) {
    auto param = module.symbols.find(entry.key);
    if (param == module.symbols.end() || param->second->kind != Symbol::Kind::Param) return; // reported
    const Type *type = typeOf(*ast::as<ast::Param>(param->second->stmt)->type, *param->second->module);
    convertTo(entry.value, *type, entry.range, "`" + entry.key + "`");
  };
  for (DeclInfo *decl : main->order) {
    if (decl->kind != "test") continue;
    TestCase made;
    made.name = decl->name.str();
    made.nameRange = decl->nameRange;
    const Env *env = withLets(nullptr, decl->syntax->block->stmts, decl->env, nullptr);
    for (const ast::Stmt *stmt : decl->syntax->block->stmts) {
      while (const auto *annotation = ast::as<ast::Annotation>(stmt)) stmt = annotation->target;
      if (const auto *field = ast::as<ast::Field>(stmt)) {
        if (field->target.parts.size() != 1 || field->target.parts[0].text != "use") continue;
        Value use = eval(*field->value, {env, nullptr});
        llvm::SmallVector<Item, 4> items;
        if (use.is(ValueKind::List)) items.append(use.asList().begin(), use.asList().end());
        else items.push_back({use, field->value->range});
        for (const Item &item : items) {
          if (item.value.isPoison()) continue;
          if (!item.value.is(ValueKind::Ref) || item.value.asRef().kind != "profile") {
            std::string found = describe(item.value);
            diags.report(item.range, diag::TypeMismatch{.what = "`use`", .found = found, .wanted = "a profile, such as `profile.laptop`, or a list of them"});
            continue;
          }
          made.profiles.push_back(item.value.asRef().name.str());
        }
      } else if (const auto *block = ast::as<ast::BlockField>(stmt)) {
        if (block->target.parts.size() != 1 || block->target.parts[0].text != "set") continue;
        Object *object = makeObject();
        Layer layer;
        layer.fragments.push_back({block->block->stmts, 0, env, {}});
        layer.range = object->range = block->block->range;
        object->layers.push_back(std::move(layer));
        Value values = materialize(*object, {});
        if (!values.is(ValueKind::Block)) continue;
        for (const Entry &entry : values.asBlock().entries) {
          auto import = main->symbols.find(entry.key);
          if (entry.value.is(ValueKind::Block) && import != main->symbols.end() && import->second->kind == Symbol::Kind::Import) {
            for (const Entry &inner : entry.value.asBlock().entries) {
              if (import->second->imported) fits(*import->second->imported, inner);
              made.set.emplace_back(entry.key.str() + "." + inner.key.str(), show(inner.value, SIZE_MAX));
            }
            continue;
          }
          fits(*main, entry);
          made.set.emplace_back(entry.key.str(), show(entry.value, SIZE_MAX));
        }
      }
    }
    testCases.push_back(std::move(made));
  }
}

// ---- entry points ----

Module analyze(const ast::Module &module, Compilation &compilation) {
  Module result;
  auto analyzer = std::make_unique<Analyzer>(compilation);
  onLargeStack(analyzer->depthLimit, [&] { result = analyzer->run(module, nullptr); });
  return result;
}

std::vector<TestCase> listTests(const ast::Module &module, Compilation &compilation) {
  std::vector<TestCase> result;
  auto analyzer = std::make_unique<Analyzer>(compilation);
  onLargeStack(analyzer->depthLimit, [&] { result = analyzer->listTests(module); });
  return result;
}

Module runTest(const ast::Module &module, Compilation &compilation, const TestRun &test) {
  Module result;
  auto analyzer = std::make_unique<Analyzer>(compilation);
  onLargeStack(analyzer->depthLimit, [&] { result = analyzer->run(module, &test); });
  return result;
}

} // namespace kft::sema
