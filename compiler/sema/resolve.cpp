// Binds each name to what it stands for, in every expression, evaluated or not. Order does not matter: `collect` first
// gathers the names of a module, then its text is walked once. The same walk types expressions as far as the text alone
// tells, so that a branch nobody takes and a function nobody calls are checked too. What it reports is remembered in
// `reported`: evaluation passes over it in silence.
#include "compiler/sema/eval.h"
#include "compiler/sema/schema.h"
#include "compiler/sema/stdlib.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

namespace kft::sema {

using K = Type::Kind;

namespace {

bool isName(StringRef text) {
  if (text.empty() || llvm::isDigit(text[0])) return false;
  return llvm::all_of(text, [](char c) { return c == '_' || llvm::isAlnum(c); });
}

const char *nounOf(Symbol::Kind kind) {
  switch (kind) {
  case Symbol::Kind::Import: return "an import";
  case Symbol::Kind::Param: return "a param";
  case Symbol::Kind::Let: return "a let";
  case Symbol::Kind::Fn: return "a function";
  case Symbol::Kind::Type: return "a type";
  }
  return "";
}

const StringRef BuiltinTypes[] = {"int", "float", "bool", "string", "amount", "duration", "any", "list", "map"};
// Kinds of declarations of this edition that are values.
const StringRef Reserved[] = {"sweep", "workflow"};

const ast::Stmt *underAnnotations(const ast::Stmt *stmt) {
  while (const auto *annotation = ast::as<ast::Annotation>(stmt)) stmt = annotation->target;
  return stmt;
}

} // namespace

// ---- names of a module ----

void Analyzer::collect(ModuleScope &module) {
  auto add = [&](Symbol::Kind kind, StringRef name, SourceRange range, const ast::Stmt *stmt, const Deprecation *deprecated) {
    if (name.empty()) return; // reported by the parser
    if (schema::isKindName(name)) {
      diags.report(range, diag::KindName{.name = name});
      return;
    }
    Symbol *symbol = makeSymbol();
    symbol->kind = kind;
    symbol->name = name;
    symbol->range = range;
    symbol->module = &module;
    symbol->stmt = stmt;
    symbol->deprecated = deprecated;
    auto [at, isNew] = module.symbols.try_emplace(name, symbol);
    if (!isNew) {
      diags.report(range, diag::DuplicateName{.name = name}).note(at->second->range, diag::FirstGivenHere{});
      return;
    }
    module.symbolOrder.push_back(symbol);
    if (kind == Symbol::Kind::Fn) functions.push_back(symbol);
  };
  for (const ast::Stmt *outer : module.syntax->stmts) {
    const Deprecation *deprecated = nullptr;
    for (const auto *annotation = ast::as<ast::Annotation>(outer); annotation; annotation = ast::as<ast::Annotation>(annotation->target))
      if (annotation->name.text == "deprecated") {
        Deprecation *made = arena.make<Deprecation>();
        for (const ast::Argument &arg : annotation->args)
          if (const auto *literal = ast::as<ast::StringLiteral>(arg.value); literal && literal->parts.size() == 1 && !literal->parts[0].value)
            (arg.name.text == "since" ? made->since : made->use) = literal->parts[0].text;
        deprecated = made;
      }
    const ast::Stmt *stmt = underAnnotations(outer);
    if (!stmt) continue;
    switch (stmt->kind) {
    case ast::StmtKind::Import: {
      const auto &import = *ast::as<ast::Import>(stmt);
      ast::Name name = import.alias;
      if (name.text.empty()) {
        if (import.module) {
          name = import.module->parts.back();
          // `std.runtime` is a slip for `std.runtimes`, and that is what will be said.
          if (schema::isKindName(name.text) && !stdlib::source(name.text).data()) name.text = {};
        } else {
          name.text = llvm::sys::path::stem(import.file.text);
          name.range = import.file.range;
          if (!import.file.text.empty() && !isName(name.text)) {
            diags.report(name.range, diag::ImportNeedsAlias{.name = name.text});
            name.text = {};
          }
        }
      }
      if (name.text.empty()) {
        // Still loaded: mistakes in it are worth knowing.
        Symbol *symbol = makeSymbol();
        symbol->kind = Symbol::Kind::Import;
        symbol->module = &module;
        symbol->stmt = stmt;
        module.symbolOrder.push_back(symbol);
      } else {
        add(Symbol::Kind::Import, name.text, name.range, stmt, nullptr);
      }
      break;
    }
    case ast::StmtKind::Param: add(Symbol::Kind::Param, ast::as<ast::Param>(stmt)->name.text, ast::as<ast::Param>(stmt)->name.range, stmt, deprecated); break;
    case ast::StmtKind::Let: add(Symbol::Kind::Let, ast::as<ast::Let>(stmt)->name.text, ast::as<ast::Let>(stmt)->name.range, stmt, deprecated); break;
    case ast::StmtKind::Fn: add(Symbol::Kind::Fn, ast::as<ast::Fn>(stmt)->name.text, ast::as<ast::Fn>(stmt)->name.range, stmt, deprecated); break;
    case ast::StmtKind::TypeDecl: {
      const auto &decl = *ast::as<ast::TypeDecl>(stmt);
      if (llvm::is_contained(BuiltinTypes, decl.name.text))
        diags.report(decl.name.range, diag::DuplicateName{.name = decl.name.text}).note(diag::BuiltinType{});
      else
        add(Symbol::Kind::Type, decl.name.text, decl.name.range, stmt, deprecated);
      break;
    }
    default: break;
    }
  }
}

void Analyzer::warnDeprecated(const Deprecation *deprecation, StringRef name, SourceRange range) {
  if (!deprecation || !range.valid()) return;
  auto report = diags.report(range, diag::Deprecated{.name = name});
  if (!deprecation->since.empty()) report.note(diag::DeprecatedSince{.since = deprecation->since});
  if (!deprecation->use.empty()) report.fixit(range, deprecation->use, diag::UseInstead{.name = deprecation->use});
}

// ---- types ----

namespace {
// A condition on values of a type or a param: `where it > 0`.
class WhereCondition final : public Condition {
public:
  WhereCondition(Analyzer &analyzer, const ast::Expr &expr) : analyzer_(analyzer), expr_(expr) {}
  bool check(const Value &value, SourceRange at, StringRef what, Compilation &) const override {
    Context context{analyzer_.bind(nullptr, "it", value), nullptr};
    bool holds = false;
    if (!analyzer_.truth(expr_, context, holds)) return false;
    if (holds) return true;
    StringRef condition = analyzer_.compilation.sources.text(expr_.range);
    std::string found = show(value);
    auto report = analyzer_.diags.report(at.valid() ? at : expr_.range, diag::ConditionFailed{.what = what, .value = found, .condition = condition});
    analyzer_.explainCondition(report, expr_, context);
    return false;
  }

private:
  Analyzer &analyzer_;
  const ast::Expr &expr_;
};
static_assert(std::is_trivially_destructible_v<WhereCondition>);
} // namespace

static const Type ErrorType{K::Error};

Symbol *Analyzer::typeSymbol(Symbol &symbol) {
  if (symbol.state == State::Done) return &symbol;
  if (symbol.state == State::Active) {
    if (reported.insert(&symbol).second) diags.report(symbol.range, diag::TypeCycle{.name = symbol.name});
    symbol.type = &ErrorType;
    symbol.state = State::Done;
    return &symbol;
  }
  symbol.state = State::Active;
  const auto &decl = *ast::as<ast::TypeDecl>(symbol.stmt);
  const Type *base = typeOf(*decl.type, *symbol.module);
  if (symbol.state == State::Done) return &symbol; // a circle, found further down
  Type *type = arena.make<Type>(*base);
  if (type->kind != K::Ref && type->kind != K::Error) type->name = symbol.name;
  if (decl.condition) {
    // A condition on top of a condition: both hold.
    if (base->condition) {
      Type *outer = arena.make<Type>(K::Choice);
      outer->name = symbol.name;
      outer->others = arena.copy<const Type *>({arena.make<Type>(*base)});
      type = outer;
    }
    type->condition = arena.make<WhereCondition>(*this, *decl.condition);
  }
  symbol.type = type;
  symbol.state = State::Done;
  return &symbol;
}

const Type *Analyzer::typeOf(const ast::Type &syntax, ModuleScope &module) {
  auto known = types.find(&syntax);
  if (known != types.end()) return known->second;
  if (depth > 400) return &ErrorType;
  const Type *result = &ErrorType;
  ++depth;
  switch (syntax.kind) {
  case ast::TypeKind::ErrorType: break;
  case ast::TypeKind::ListType:
  case ast::TypeKind::MapType: {
    bool list = syntax.kind == ast::TypeKind::ListType;
    Type *type = arena.make<Type>(list ? K::List : K::Map);
    type->element = typeOf(list ? *ast::as<ast::ListType>(&syntax)->element : *ast::as<ast::MapType>(&syntax)->element, module);
    result = type;
    break;
  }
  case ast::TypeKind::OptionalType: {
    const Type *element = typeOf(*ast::as<ast::OptionalType>(&syntax)->element, module);
    if (element->kind == K::Error) break;
    Type *type = arena.make<Type>(K::Optional);
    type->element = element;
    result = type;
    break;
  }
  case ast::TypeKind::ChoiceType: {
    const auto &choice = *ast::as<ast::ChoiceType>(&syntax);
    Type *type = arena.make<Type>(K::Choice);
    llvm::SmallVector<StringRef, 8> strings;
    for (const ast::Name &name : choice.strings) {
      if (llvm::is_contained(strings, name.text)) {
        std::string shown = show(Value::string(name.text));
        diags.report(name.range, diag::DuplicateName{.name = shown});
        continue;
      }
      strings.push_back(name.text);
    }
    llvm::SmallVector<const Type *, 4> others;
    for (const ast::Type *other : choice.others) others.push_back(typeOf(*other, module));
    type->strings = arena.copy<StringRef>(strings);
    type->others = arena.copy<const Type *>(others);
    result = type;
    break;
  }
  case ast::TypeKind::RecordType: {
    const auto &record = *ast::as<ast::RecordType>(&syntax);
    llvm::SmallVector<RecordMember, 8> members;
    for (const ast::RecordField &field : record.fields) {
      for (const RecordMember &other : members)
        if (other.name == field.name.text && !field.name.text.empty())
          diags.report(field.name.range, diag::DuplicateField{.field = field.name.text}).note(other.range, diag::FirstGivenHere{});
      RecordMember member;
      member.name = field.name.text;
      member.range = field.name.range;
      member.type = typeOf(*field.type, module);
      member.required = !field.value && member.type->kind != K::Optional;
      if (!field.value && member.type->kind == K::Optional) member.fallback = Value::null();
      members.push_back(member);
    }
    Type *type = arena.make<Type>(K::Record);
    type->members = arena.copy<RecordMember>(members);
    // Defaults are values: they wait until names are bound.
    for (size_t i = 0; i < members.size(); ++i)
      if (record.fields[i].value) memberDefaults.push_back({const_cast<RecordMember *>(&type->members[i]), record.fields[i].value});
    result = type;
    break;
  }
  case ast::TypeKind::NamedType: {
    const ast::Path &path = ast::as<ast::NamedType>(&syntax)->path;
    StringRef first = path.parts[0].text;
    if (first.empty()) break;
    if (path.parts.size() == 1) {
      const Type *simple = llvm::StringSwitch<const Type *>(first)
                               .Case("int", &Type::integer)
                               .Case("float", &Type::number)
                               .Case("bool", &Type::boolean)
                               .Case("string", &Type::string)
                               .Case("amount", &Type::amount)
                               .Case("duration", &Type::duration)
                               .Case("any", &Type::any)
                               .Default(nullptr);
      if (simple) {
        result = simple;
        break;
      }
      if (schema::isKindName(first) && !llvm::is_contained(Reserved, first)) {
        Type *type = arena.make<Type>(K::Ref);
        type->name = first;
        result = type;
        break;
      }
      auto symbol = module.symbols.find(first);
      if (symbol != module.symbols.end() && symbol->second->kind == Symbol::Kind::Type) {
        warnDeprecated(symbol->second->deprecated, first, path.range);
        result = typeSymbol(*symbol->second)->type;
        break;
      }
      if (symbol != module.symbols.end()) {
        diags.report(path.range, diag::NotAType{.name = first, .what = nounOf(symbol->second->kind)});
        break;
      }
      llvm::SmallVector<StringRef, 32> candidates(std::begin(BuiltinTypes), std::end(BuiltinTypes));
      for (const schema::Block &block : schema::blocks())
        if (block.isKind) candidates.push_back(block.name);
      for (Symbol *other : module.symbolOrder)
        if (other->kind == Symbol::Kind::Type) candidates.push_back(other->name);
      auto report = diags.report(path.range, diag::UnknownType{.name = first});
      StringRef near = llvm::StringSwitch<StringRef>(first)
                           .Cases("str", "String", "text", "string")
                           .Cases("integer", "int64", "number", "int")
                           .Cases("double", "float64", "float")
                           .Cases("boolean", "Bool", "bool")
                           .Cases("dict", "object", "map")
                           .Cases("array", "List", "list")
                           .Default("");
      if (near.empty()) near = nearestName(first, candidates);
      if (near == "list" || near == "map") {
        std::string shown = near.str() + "<any>";
        report.fixit(path.range, shown, diag::DidYouMean{.name = shown});
      } else if (!near.empty()) {
        report.fixit(path.range, near, diag::DidYouMean{.name = near});
      }
      break;
    }
    auto import = module.symbols.find(first);
    if (import == module.symbols.end() || import->second->kind != Symbol::Kind::Import) {
      diags.report(path.parts[0].range, diag::UnknownName{.name = first});
      break;
    }
    ModuleScope *other = import->second->imported;
    StringRef last = path.parts[1].text;
    if (!other || last.empty()) break;
    auto symbol = other->symbols.find(last);
    if (path.parts.size() > 2 || symbol == other->symbols.end() || symbol->second->kind != Symbol::Kind::Type || last.startswith("_")) {
      llvm::SmallVector<StringRef, 16> candidates;
      for (Symbol *candidate : other->symbolOrder)
        if (candidate->kind == Symbol::Kind::Type && !candidate->name.startswith("_")) candidates.push_back(candidate->name);
      auto report = diags.report(path.parts[1].range, diag::UnknownInModule{.module = first, .name = last});
      StringRef near = nearestName(last, candidates);
      if (!near.empty()) report.fixit(path.parts[1].range, near, diag::DidYouMean{.name = near});
      break;
    }
    warnDeprecated(symbol->second->deprecated, last, path.parts[1].range);
    result = typeSymbol(*symbol->second)->type;
    break;
  }
  }
  --depth;
  types[&syntax] = result;
  return result;
}

// ---- the walk ----

class Resolver {
public:
  Resolver(Analyzer &analyzer, ModuleScope &module) : a(analyzer), module(module) {}

  struct Local {
    const Local *parent;
    StringRef name;
    SourceRange range;
    const Type *type;
    bool isIt = false;
  };

  void run() {
    for (const ast::Stmt *stmt : module.syntax->stmts) moduleStatement(*stmt);
  }

  const Type *infer(const ast::Expr &expr, const Local *locals);
  void letOf(Symbol &symbol);

private:
  Analyzer &a;
  ModuleScope &module;
  Symbol *inFunction = nullptr;
  bool inTest = false;
  bool hasSelf = false; // inside a block of some kind
  ArrayRef<const ast::Stmt *> selfStmts; // of the outermost one: what `self` is

  void moduleStatement(const ast::Stmt &stmt);
  void generated(const ast::Stmt &stmt, const Local *locals);
  void generatedBody(const ast::Block &body, const Local *locals);
  const Local *declareLets(ArrayRef<const ast::Stmt *> stmts, const Local *locals);
  void block(const ast::Block &block, const Local *locals);
  void blockStatement(const ast::Stmt &stmt, const Local *locals);
  const Local *binding(const ast::Binding &binding, const Local *locals);
  const Local *declare(const ast::Name &name, const Type *type, const Local *locals);
  void declaration(const ast::Decl &decl, const Local *locals);
  void profileBody(const ast::Block &block, const Local *locals);
  void testBody(const ast::Block &block, const Local *locals);
  void annotation(const ast::Annotation &annotation);
  void basePath(const ast::Decl &decl);
  void condition(const ast::Expr &expr, const Local *locals);
  void types(const ast::Type &type);
  void names(const ast::Path &path, const Local *locals) {
    for (const ast::Name &name : path.parts)
      if (name.interpolated) infer(*name.interpolated, locals);
  }

  static bool computed(const ast::Path &path) {
    return llvm::any_of(path.parts, [](const ast::Name &name) { return name.interpolated != nullptr; });
  }

  Binding bindName(const ast::NameRef &ref, const Local *locals);
  // Binds `expr` when it is a name or a path that starts with one; Local or Error kind when it is an ordinary expression.
  bool bindPath(const ast::Expr &expr, const Local *locals, Binding &result);
  const Type *typeOfBinding(const Binding &binding, const ast::Expr &expr, const Local *locals);
  const Type *call(const ast::Call &call, const Local *locals);
  const Type *binary(const ast::Binary &expr, const Local *locals);
  const Type *binaryType(const ast::Binary &expr, const Type *left, const Type *right);
  const Type *unknownName(StringRef name, SourceRange range, const Local *locals, const ast::Expr *expr);
  std::vector<std::string> pathsTo(StringRef name) const;
  bool isField(StringRef name) const;
  void checkArgument(const ast::Expr &value, const Type &type, const Type *found, const llvm::Twine &what);
  const Type *wrong(const ast::Expr &expr) {
    a.reported.insert(&expr);
    return &ErrorType;
  }
};

const Resolver::Local *Resolver::declare(const ast::Name &name, const Type *type, const Local *locals) {
  if (name.text.empty()) return locals;
  if (schema::isKindName(name.text)) {
    a.diags.report(name.range, diag::KindName{.name = name.text});
  } else {
    auto hidden = module.symbols.find(name.text);
    if (hidden != module.symbols.end()) {
      a.diags.report(name.range, diag::Shadows{.name = name.text}).note(hidden->second->range, diag::FirstGivenHere{});
    } else {
      for (const Local *other = locals; other; other = other->parent)
        if (other->name == name.text && !other->isIt) {
          a.diags.report(name.range, diag::Shadows{.name = name.text}).note(other->range, diag::FirstGivenHere{});
          break;
        }
    }
  }
  return a.arena.make<Local>(locals, name.text, name.range, type, false);
}

void Resolver::types(const ast::Type &type) {
  a.typeOf(type, module);
  // Defaults inside record types are expressions as well.
  if (const auto *record = ast::as<ast::RecordType>(&type)) {
    for (const ast::RecordField &field : record->fields) {
      types(*field.type);
      if (!field.value) continue;
      const Type *wanted = a.typeOf(*field.type, module);
      const Type *found = infer(*field.value, nullptr);
      checkArgument(*field.value, *wanted, found, "`" + field.name.text + "`");
    }
  } else if (const auto *list = ast::as<ast::ListType>(&type)) {
    types(*list->element);
  } else if (const auto *map = ast::as<ast::MapType>(&type)) {
    types(*map->element);
  } else if (const auto *optional = ast::as<ast::OptionalType>(&type)) {
    types(*optional->element);
  } else if (const auto *choice = ast::as<ast::ChoiceType>(&type)) {
    for (const ast::Type *other : choice->others) types(*other);
  }
}

void Resolver::condition(const ast::Expr &expr, const Local *locals) {
  const Type *type = infer(expr, locals);
  if (type->kind == K::Bool || type->kind == K::Any || type->kind == K::Error || type->kind == K::Optional || type->kind == K::Choice) return;
  std::string found = "of type `" + typeText(*type) + "`";
  a.diags.report(expr.range, diag::ConditionNotBool{.found = found});
  wrong(expr);
}

void Resolver::annotation(const ast::Annotation &annotation) {
  StringRef name = annotation.name.text;
  static const StringRef known[] = {"abstract", "allow", "deprecated"};
  for (const ast::Argument &arg : annotation.args) infer(*arg.value, nullptr);
  if (name.empty()) return;
  if (!llvm::is_contained(known, name)) {
    auto report = a.diags.report(annotation.name.range, diag::UnknownAnnotation{.name = name});
    StringRef near = nearestName(name, known);
    if (!near.empty()) report.fixit(annotation.name.range, near, diag::DidYouMean{.name = near});
    return;
  }
  auto plain = [](const ast::Argument &arg) {
    const auto *literal = ast::as<ast::StringLiteral>(arg.value);
    return literal && literal->parts.size() == 1 && !literal->parts[0].value;
  };
  auto bad = [&](StringRef rule) { a.diags.report(annotation.name.range, diag::BadAnnotation{.name = name, .rule = rule}); };
  if (name == "abstract") {
    if (!annotation.args.empty()) return bad("it takes nothing in brackets");
    const ast::Stmt *target = underAnnotations(annotation.target);
    if (target && target->kind != ast::StmtKind::Decl && target->kind != ast::StmtKind::ErrorStmt) return bad("only a declaration can be abstract");
  } else if (name == "deprecated") {
    for (const ast::Argument &arg : annotation.args) {
      if (arg.name.text != "since" && arg.name.text != "use") return bad("it takes `since = \"…\"` and `use = \"…\"`");
      if (!plain(arg)) return bad("`since` and `use` are plain strings");
    }
    const ast::Stmt *target = underAnnotations(annotation.target);
    if (target && target->kind != ast::StmtKind::Decl && target->kind != ast::StmtKind::Let && target->kind != ast::StmtKind::Fn &&
        target->kind != ast::StmtKind::Param && target->kind != ast::StmtKind::TypeDecl && target->kind != ast::StmtKind::ErrorStmt)
      return bad("what can be deprecated is a declaration, `param`, `let`, `fn` or `type`");
  } else if (name == "allow") {
    if (annotation.args.size() != 2 || !plain(annotation.args[0]) || !plain(annotation.args[1]) || !annotation.args[0].name.text.empty())
      return bad("it takes what is allowed and the reason: `@allow(\"literal-secret\", \"a key for tests\")`");
    StringRef id = ast::as<ast::StringLiteral>(annotation.args[0].value)->parts[0].text;
    if (id != "literal-secret") {
      auto report = a.diags.report(annotation.args[0].value->range, diag::UnknownAllow{.name = id});
      report.fixit(annotation.args[0].value->range, "\"literal-secret\"", diag::DidYouMean{.name = "literal-secret"});
    }
  }
}

void Resolver::moduleStatement(const ast::Stmt &stmt) {
  switch (stmt.kind) {
  case ast::StmtKind::ErrorStmt:
  case ast::StmtKind::Import: break;
  case ast::StmtKind::Annotation: {
    const auto &node = *ast::as<ast::Annotation>(&stmt);
    annotation(node);
    if (node.target) moduleStatement(*node.target);
    break;
  }
  case ast::StmtKind::Field: {
    const auto &field = *ast::as<ast::Field>(&stmt);
    const Type *type = infer(*field.value, nullptr);
    const ast::Name &name = field.target.parts[0];
    if (name.text == "edition" && field.target.parts.size() == 1 && !field.append) {
      const auto *number = ast::as<ast::IntLiteral>(field.value);
      if (type->kind != K::Error && (!number || number->value != 1)) {
        std::string found = a.compilation.sources.text(field.value->range).str();
        a.diags.report(field.value->range, diag::BadEdition{.found = found});
      }
      break;
    }
    const StringRef shown = name.interpolated ? a.compilation.sources.text(name.range) : name.text;
    if (shown.empty()) break;
    auto report = a.diags.report(field.target.range, diag::UnknownSetting{.name = shown});
    if (nearestName(name.text, {StringRef("edition")}) == "edition")
      report.fixit(field.target.range, "edition", diag::DidYouMean{.name = "edition"});
    else if (field.target.parts.size() == 1 && !field.append && !name.quoted && !schema::isKindName(name.text)) {
      std::string let = "let " + name.text.str();
      report.fixit(field.target.range, let, diag::WriteLet{.text = let});
    }
    break;
  }
  case ast::StmtKind::BlockField: {
    const auto &field = *ast::as<ast::BlockField>(&stmt);
    const ast::Name &name = field.target.parts[0];
    if (schema::isKindName(name.text)) {
      if (field.target.parts.size() == 1)
        a.diags.report(field.target.range, diag::DeclNeedsName{.kind = name.text});
      else
        a.diags.report(field.target.range, diag::AmendOutsideProfile{.name = a.compilation.sources.text(field.target.range)});
    } else if (!name.text.empty() || name.interpolated) {
      const StringRef shown = name.interpolated ? a.compilation.sources.text(name.range) : name.text;
      auto report = a.diags.report(name.range, diag::UnknownKind{.kind = shown});
      llvm::SmallVector<StringRef, 8> kinds;
      for (const schema::Block &kind : schema::blocks())
        if (kind.isKind) kinds.push_back(kind.name);
      StringRef near = nearestName(name.text, kinds);
      if (!near.empty()) report.fixit(name.range, near, diag::DidYouMean{.name = near});
    }
    block(*field.block, nullptr);
    break;
  }
  case ast::StmtKind::Decl: declaration(*ast::as<ast::Decl>(&stmt), nullptr); break;
  case ast::StmtKind::Param: {
    const auto &param = *ast::as<ast::Param>(&stmt);
    types(*param.type);
    const Type *type = a.typeOf(*param.type, module);
    if (param.value) checkArgument(*param.value, *type, infer(*param.value, nullptr), "`" + param.name.text + "`");
    if (param.condition) {
      Local it{nullptr, "it", param.name.range, type, true};
      condition(*param.condition, &it);
    }
    break;
  }
  case ast::StmtKind::Let: {
    const auto &let = *ast::as<ast::Let>(&stmt);
    auto symbol = module.symbols.find(let.name.text);
    if (let.type) types(*let.type);
    if (symbol != module.symbols.end() && symbol->second->stmt == &stmt)
      letOf(*symbol->second);
    else
      infer(*let.value, nullptr);
    break;
  }
  case ast::StmtKind::Fn: {
    const auto &fn = *ast::as<ast::Fn>(&stmt);
    auto found = module.symbols.find(fn.name.text);
    Symbol *symbol = found != module.symbols.end() && found->second->stmt == &stmt ? found->second : nullptr;
    const Local *locals = nullptr;
    for (const ast::FnParam &param : fn.params) {
      types(*param.type);
      const Type *type = a.typeOf(*param.type, module);
      if (param.value) checkArgument(*param.value, *type, infer(*param.value, nullptr), "`" + param.name.text + "`");
      if (param.condition) {
        Local it{locals, "it", param.name.range, type, true};
        condition(*param.condition, &it);
      }
      locals = declare(param.name, type, locals);
    }
    bool optional = false;
    for (const ast::FnParam &param : fn.params) {
      if (optional && !param.value && !param.name.text.empty()) a.diags.report(param.name.range, diag::RequiredAfterOptional{.name = param.name.text});
      optional |= param.value != nullptr;
    }
    types(*fn.result);
    inFunction = symbol;
    const Type *type = infer(*fn.body, locals);
    checkArgument(*fn.body, *a.typeOf(*fn.result, module), type, "the result of `" + fn.name.text + "`");
    inFunction = nullptr;
    break;
  }
  case ast::StmtKind::TypeDecl: {
    const auto &decl = *ast::as<ast::TypeDecl>(&stmt);
    types(*decl.type);
    auto symbol = module.symbols.find(decl.name.text);
    if (symbol != module.symbols.end() && symbol->second->stmt == &stmt) a.typeSymbol(*symbol->second);
    if (decl.condition) {
      Local it{nullptr, "it", decl.name.range, a.typeOf(*decl.type, module), true};
      condition(*decl.condition, &it);
    }
    break;
  }
  case ast::StmtKind::Assert: {
    const auto &assertion = *ast::as<ast::Assert>(&stmt);
    condition(*assertion.condition, nullptr);
    if (assertion.message) infer(*assertion.message, nullptr);
    break;
  }
  case ast::StmtKind::If:
  case ast::StmtKind::For: generated(stmt, nullptr); break;
  }
}

// Bodies of `if` and `for` at module level hold declarations.
void Resolver::generatedBody(const ast::Block &body, const Local *locals) {
  locals = declareLets(body.stmts, locals);
  for (const ast::Stmt *stmt : body.stmts) generated(*stmt, locals);
}

void Resolver::generated(const ast::Stmt &stmt, const Local *locals) {
  switch (stmt.kind) {
  case ast::StmtKind::If:
    for (const auto *node = ast::as<ast::If>(&stmt); node; node = ast::as<ast::If>(node->elseIf)) {
      condition(*node->condition, locals);
      generatedBody(*node->then, locals);
      if (node->otherwise) generatedBody(*node->otherwise, locals);
    }
    break;
  case ast::StmtKind::For: {
    const auto &node = *ast::as<ast::For>(&stmt);
    generatedBody(*node.block, binding(node.binding, locals));
    break;
  }
  case ast::StmtKind::Annotation: {
    const auto &node = *ast::as<ast::Annotation>(&stmt);
    annotation(node);
    if (node.target) generated(*node.target, locals);
    break;
  }
  case ast::StmtKind::Decl: declaration(*ast::as<ast::Decl>(&stmt), locals); break;
  case ast::StmtKind::Field:
  case ast::StmtKind::BlockField: moduleStatement(stmt); break;
  default: blockStatement(stmt, locals); break;
  }
}

const Resolver::Local *Resolver::declareLets(ArrayRef<const ast::Stmt *> stmts, const Local *locals) {
  for (const ast::Stmt *stmt : stmts)
    if (const auto *let = ast::as<ast::Let>(underAnnotations(stmt)))
      locals = declare(let->name, let->type ? a.typeOf(*let->type, module) : &Type::any, locals);
  return locals;
}

void Resolver::block(const ast::Block &block, const Local *locals) {
  bool outer = hasSelf;
  if (!hasSelf) selfStmts = block.stmts;
  hasSelf = true;
  locals = declareLets(block.stmts, locals);
  for (const ast::Stmt *stmt : block.stmts) blockStatement(*stmt, locals);
  hasSelf = outer;
}

void Resolver::blockStatement(const ast::Stmt &stmt, const Local *locals) {
  auto moduleOnly = [&](StringRef what) { a.diags.report(stmt.range, diag::ModuleLevelOnly{.what = what}); };
  switch (stmt.kind) {
  case ast::StmtKind::ErrorStmt: break;
  case ast::StmtKind::Field: {
    const auto &field = *ast::as<ast::Field>(&stmt);
    names(field.target, locals);
    infer(*field.value, locals);
    break;
  }
  case ast::StmtKind::BlockField: {
    const auto &field = *ast::as<ast::BlockField>(&stmt);
    names(field.target, locals);
    block(*field.block, locals);
    break;
  }
  case ast::StmtKind::Decl: {
    const auto &decl = *ast::as<ast::Decl>(&stmt);
    if (decl.kindName.text == "profile" || decl.kindName.text == "test") {
      a.diags.report(decl.kindName.range, diag::ModuleLevelOnly{.what = decl.kindName.text});
      break;
    }
    if (decl.interpolatedName) infer(*decl.interpolatedName, locals);
    if (decl.base) a.diags.report(decl.base->range, diag::ExtendsInBlock{});
    block(*decl.block, locals);
    break;
  }
  case ast::StmtKind::Import: moduleOnly("import"); break;
  case ast::StmtKind::Param: moduleOnly("param"); break;
  case ast::StmtKind::Fn: moduleOnly("fn"); break;
  case ast::StmtKind::TypeDecl: moduleOnly("type"); break;
  case ast::StmtKind::Let: {
    const auto &let = *ast::as<ast::Let>(&stmt);
    if (let.type) types(*let.type);
    const Type *type = infer(*let.value, locals);
    if (let.type) checkArgument(*let.value, *a.typeOf(*let.type, module), type, "`" + let.name.text + "`");
    break;
  }
  case ast::StmtKind::Assert: {
    const auto &assertion = *ast::as<ast::Assert>(&stmt);
    condition(*assertion.condition, locals);
    if (assertion.message) infer(*assertion.message, locals);
    break;
  }
  case ast::StmtKind::If:
    for (const auto *node = ast::as<ast::If>(&stmt); node; node = ast::as<ast::If>(node->elseIf)) {
      condition(*node->condition, locals);
      block(*node->then, locals);
      if (node->otherwise) block(*node->otherwise, locals);
    }
    break;
  case ast::StmtKind::For: {
    const auto &node = *ast::as<ast::For>(&stmt);
    block(*node.block, binding(node.binding, locals));
    break;
  }
  case ast::StmtKind::Annotation: {
    const auto &node = *ast::as<ast::Annotation>(&stmt);
    annotation(node);
    if (node.target) blockStatement(*node.target, locals);
    break;
  }
  }
}

const Resolver::Local *Resolver::binding(const ast::Binding &binding, const Local *locals) {
  const Type *range = infer(*binding.range, locals);
  const Type *item = &Type::any, *index = &Type::any;
  switch (range->kind) {
  case K::List: item = range->element; index = &Type::integer; break;
  case K::Map: item = range->element; index = &Type::string; break;
  case K::Record:
  case K::Block: index = &Type::string; break;
  case K::Bool:
  case K::Int:
  case K::Float:
  case K::String:
  case K::Amount:
  case K::Duration:
  case K::Ref:
  case K::Source: {
    std::string found = "of type `" + typeText(*range) + "`";
    auto report = a.diags.report(binding.range->range, diag::NotIterable{.found = found});
    if (range->kind == K::Int) report.note(diag::IterateRange{});
    wrong(*binding.range);
    break;
  }
  default: break;
  }
  if (binding.second.text.empty()) return declare(binding.first, item, locals);
  return declare(binding.second, item, declare(binding.first, index, locals));
}

void Resolver::declaration(const ast::Decl &decl, const Local *locals) {
  StringRef kind = decl.kindName.text;
  if (decl.interpolatedName) infer(*decl.interpolatedName, locals);
  if (llvm::is_contained(Reserved, kind)) {
    a.diags.report(decl.kindName.range, diag::ReservedKind{.kind = kind});
  } else if (!kind.empty() && !schema::isKindName(kind)) {
    llvm::SmallVector<StringRef, 8> kinds;
    for (const schema::Block &block : schema::blocks())
      if (block.isKind) kinds.push_back(block.name);
    auto report = a.diags.report(decl.kindName.range, diag::UnknownKind{.kind = kind});
    StringRef near = nearestName(kind, kinds);
    if (!near.empty()) report.fixit(decl.kindName.range, near, diag::DidYouMean{.name = near});
  } else {
    basePath(decl);
  }
  if ((kind == "profile" || kind == "test") && locals) a.diags.report(decl.kindName.range, diag::ModuleLevelOnly{.what = kind});
  if (kind == "profile")
    profileBody(*decl.block, locals);
  else if (kind == "test")
    testBody(*decl.block, locals);
  else
    block(*decl.block, locals);
}

// `extends trainers.native`, `extends job.base`: bound under the address of the path.
void Resolver::basePath(const ast::Decl &decl) {
  if (!decl.base) return;
  ArrayRef<ast::Name> parts = decl.base->parts;
  for (const ast::Name &part : parts)
    if (part.text.empty()) return;
  Binding result;
  result.kind = Binding::Kind::Error;
  StringRef first = parts[0].text;
  auto symbol = module.symbols.find(first);
  if (schema::isKindName(first) && parts.size() == 2) {
    result = {Binding::Kind::Decl, nullptr, nullptr, &module, first, parts[1].text};
  } else if (symbol != module.symbols.end() && symbol->second->kind == Symbol::Kind::Import && (parts.size() == 2 || parts.size() == 3)) {
    ModuleScope *other = symbol->second->imported;
    if (other) {
      if (parts.back().text.startswith("_"))
        a.diags.report(parts.back().range, diag::PrivateName{.name = parts.back().text, .module = first});
      else if (parts.size() == 2)
        result = {Binding::Kind::Member, nullptr, nullptr, other, {}, parts[1].text};
      else
        result = {Binding::Kind::Decl, nullptr, nullptr, other, parts[1].text, parts[2].text};
    }
  } else if (symbol == module.symbols.end() && parts.size() == 1 && !schema::isKindName(first)) {
    // The kind is known from what extends.
    result = {Binding::Kind::Decl, nullptr, nullptr, &module, decl.kindName.text, first};
  } else if (symbol != module.symbols.end()) {
    a.diags.report(decl.base->range, diag::NotADecl{.name = a.compilation.sources.text(decl.base->range)});
  } else if (schema::isKindName(first)) {
    a.diags.report(decl.base->range, diag::NotADecl{.name = a.compilation.sources.text(decl.base->range)});
  } else {
    unknownName(first, parts[0].range, nullptr, nullptr);
  }
  if (result.kind == Binding::Kind::Error) {
    a.reported.insert(decl.base);
    return;
  }
  a.baseBindings[decl.base] = result;
  a.declUses.push_back({result, parts.back().range, decl.base->range});
}

void Resolver::profileBody(const ast::Block &body, const Local *locals) {
  locals = declareLets(body.stmts, locals);
  for (const ast::Stmt *outer : body.stmts) {
    if (const auto *node = ast::as<ast::Annotation>(outer)) annotation(*node);
    const ast::Stmt *stmt = underAnnotations(outer);
    if (!stmt) continue;
    switch (stmt->kind) {
    case ast::StmtKind::BlockField: {
      const auto &field = *ast::as<ast::BlockField>(stmt);
      const ast::Name &first = field.target.parts[0];
      // What a profile changes is known before anything is computed.
      if (computed(field.target)) {
        a.diags.report(field.target.range, diag::BadProfileStatement{});
        break;
      }
      if (first.text == "set" && field.target.parts.size() == 1) {
        for (const ast::Stmt *setting : field.block->stmts) {
          setting = underAnnotations(setting);
          const auto *set = ast::as<ast::Field>(setting);
          if (const auto *named = ast::as<ast::BlockField>(setting); (set && computed(set->target)) || (named && computed(named->target))) {
            a.diags.report(setting->range, diag::BadProfileStatement{});
            continue;
          }
          if (!setting || setting->kind == ast::StmtKind::ErrorStmt) continue;
          const auto *inner = ast::as<ast::BlockField>(setting);
          if (!set && !(inner && inner->target.parts.size() == 1)) {
            a.diags.report(setting->range, diag::BadProfileStatement{});
            continue;
          }
          if (set) {
            if (set->append) a.diags.report(set->range, diag::BadProfileStatement{});
            infer(*set->value, locals);
            std::string path;
            for (const ast::Name &part : set->target.parts) path += (path.empty() ? "" : ".") + part.text.str();
            if (llvm::none_of(set->target.parts, [](const ast::Name &part) { return part.text.empty(); }))
              a.findParam(module, a.arena.save(path), set->target.range, "");
          } else {
            for (const ast::Stmt *below : inner->block->stmts)
              if (const auto *value = ast::as<ast::Field>(below)) {
                infer(*value->value, locals);
                std::string path = inner->target.parts[0].text.str() + "." + value->target.parts[0].text.str();
                a.findParam(module, a.arena.save(path), value->target.range, "");
              }
          }
        }
        break;
      }
      if (!first.text.empty() && !schema::isKindName(first.text)) {
        llvm::SmallVector<StringRef, 8> kinds{"set"};
        for (const schema::Block &kind : schema::blocks())
          if (kind.isKind) kinds.push_back(kind.name);
        auto report = a.diags.report(first.range, diag::UnknownKind{.kind = first.text});
        StringRef near = nearestName(first.text, kinds);
        if (!near.empty()) report.fixit(first.range, near, diag::DidYouMean{.name = near});
      } else if (field.target.parts.size() == 2 && !first.text.empty() && !field.target.parts[1].text.empty()) {
        Binding binding{Binding::Kind::Decl, nullptr, nullptr, &module, first.text, field.target.parts[1].text};
        a.declUses.push_back({binding, field.target.parts[1].range, field.target.range});
      } else if (field.target.parts.size() > 2) {
        a.diags.report(field.target.range, diag::BadProfileStatement{});
      }
      block(*field.block, locals);
      break;
    }
    case ast::StmtKind::Decl: {
      // `job finetune { … }` where `job.finetune { … }` is meant.
      const auto &decl = *ast::as<ast::Decl>(stmt);
      std::string path = decl.kindName.text.str() + "." + a.compilation.sources.text(decl.name.range).str();
      SourceRange range = join(decl.kindName.range, decl.name.range);
      a.diags.report(range, diag::DeclInProfile{}).fixit(range, path, diag::DidYouMean{.name = path});
      block(*decl.block, locals);
      break;
    }
    case ast::StmtKind::Let: blockStatement(*stmt, locals); break;
    case ast::StmtKind::Assert: blockStatement(*stmt, locals); break;
    case ast::StmtKind::ErrorStmt: break;
    default: a.diags.report(stmt->range, diag::BadProfileStatement{}); break;
    }
  }
}

void Resolver::testBody(const ast::Block &body, const Local *locals) {
  inTest = true;
  locals = declareLets(body.stmts, locals);
  for (const ast::Stmt *outer : body.stmts) {
    if (const auto *node = ast::as<ast::Annotation>(outer)) annotation(*node);
    const ast::Stmt *stmt = underAnnotations(outer);
    if (!stmt) continue;
    if (const auto *field = ast::as<ast::Field>(stmt)) {
      if (field->target.parts.size() != 1 || field->target.parts[0].text != "use") {
        a.diags.report(field->target.range, diag::BadTestStatement{});
      }
      infer(*field->value, locals);
    } else if (const auto *inner = ast::as<ast::BlockField>(stmt)) {
      if (inner->target.parts.size() == 1 && inner->target.parts[0].text == "set") {
        for (const ast::Stmt *setting : inner->block->stmts)
          if (const auto *set = ast::as<ast::Field>(setting); set && !computed(set->target)) {
            infer(*set->value, locals);
            std::string path;
            for (const ast::Name &part : set->target.parts) path += (path.empty() ? "" : ".") + part.text.str();
            a.findParam(module, a.arena.save(path), set->target.range, "");
          } else if (setting->kind != ast::StmtKind::ErrorStmt) {
            a.diags.report(setting->range, diag::BadTestStatement{});
          }
      } else {
        a.diags.report(inner->target.range, diag::BadTestStatement{});
      }
    } else if (stmt->kind == ast::StmtKind::Let || stmt->kind == ast::StmtKind::Assert) {
      blockStatement(*stmt, locals);
    } else if (stmt->kind != ast::StmtKind::ErrorStmt) {
      a.diags.report(stmt->range, diag::BadTestStatement{});
    }
  }
  inTest = false;
}

// ---- expressions ----

namespace {

// What a literal is worth; false for anything that needs evaluation.
bool constant(const ast::Expr &expr, Arena &arena, Value &result) {
  switch (expr.kind) {
  case ast::ExprKind::IntLiteral: result = Value::integer(ast::as<ast::IntLiteral>(&expr)->value); return true;
  case ast::ExprKind::FloatLiteral: result = Value::number(ast::as<ast::FloatLiteral>(&expr)->value); return true;
  case ast::ExprKind::BoolLiteral: result = Value::boolean(ast::as<ast::BoolLiteral>(&expr)->value); return true;
  case ast::ExprKind::NullLiteral: result = Value::null(); return true;
  case ast::ExprKind::DurationLiteral: result = Value::duration(ast::as<ast::DurationLiteral>(&expr)->milliseconds); return true;
  case ast::ExprKind::AmountLiteral: {
    std::optional<Amount> amount = parseAmount(ast::as<ast::AmountLiteral>(&expr)->text);
    if (!amount) return false;
    result = Value::amount(arena.make<Amount>(*amount));
    return true;
  }
  case ast::ExprKind::StringLiteral: {
    ArrayRef<ast::StringPart> parts = ast::as<ast::StringLiteral>(&expr)->parts;
    if (parts.size() > 1 || (parts.size() == 1 && parts[0].value)) return false;
    result = Value::string(parts.empty() ? StringRef("", 0) : parts[0].text);
    return true;
  }
  case ast::ExprKind::Paren: return constant(*ast::as<ast::Paren>(&expr)->inner, arena, result);
  case ast::ExprKind::Unary: {
    const auto &unary = *ast::as<ast::Unary>(&expr);
    if (unary.op != ast::UnaryOp::Minus || !constant(*unary.operand, arena, result)) return false;
    if (result.is(ValueKind::Int) && result.asInt() != INT64_MIN) result = Value::integer(-result.asInt());
    else if (result.is(ValueKind::Float)) result = Value::number(-result.asFloat());
    else return false;
    return true;
  }
  default: return false;
  }
}

// Any, null and mixtures tell nothing; a choice of texts is a text.
K classOf(const Type &type) {
  switch (type.kind) {
  case K::Choice: return type.others.empty() ? K::String : K::Any;
  case K::Optional:
  case K::Error: return K::Any;
  case K::Map:
  case K::Record: return K::Block;
  default: return type.kind;
  }
}

bool numeric(K kind) { return kind == K::Int || kind == K::Float; }

bool possible(const Type &found, const Type &wanted) {
  K kind = classOf(found);
  if (kind == K::Any) return true;
  switch (wanted.kind) {
  case K::Error:
  case K::Any: return true;
  case K::Optional: return possible(found, *wanted.element);
  case K::Choice:
    return (!wanted.strings.empty() && kind == K::String) || llvm::any_of(wanted.others, [&](const Type *other) { return possible(found, *other); });
  case K::Float: return numeric(kind);
  case K::Amount: return numeric(kind) || kind == K::Amount;
  case K::List: return kind == K::List && possible(*found.element, *wanted.element);
  case K::Map:
  case K::Record:
  case K::Block: return kind == K::Block;
  case K::Ref: return kind == K::Block || (kind == K::Ref && found.name == wanted.name);
  default: return kind == wanted.kind;
  }
}

} // namespace

void Resolver::checkArgument(const ast::Expr &value, const Type &type, const Type *found, const llvm::Twine &what) {
  if (found->kind == K::Error || type.kind == K::Error || a.reported.contains(&value)) return;
  Value literal;
  if (constant(value, a.arena, literal)) {
    if (accepts(type, literal)) return;
    convert(literal, type, value.range, what, a.compilation);
    wrong(value);
    return;
  }
  if (possible(*found, type)) return;
  if (found->kind == K::Source) {
    std::string where = what.str();
    a.diags.report(value.range, diag::SecretNotAllowed{.what = where});
    wrong(value);
    return;
  }
  std::string place = what.str(), is = "of type `" + typeText(*found) + "`", want = wantedText(type);
  a.diags.report(value.range, diag::TypeMismatch{.what = place, .found = is, .wanted = want});
  wrong(value);
}

const Type *Resolver::unknownName(StringRef name, SourceRange range, const Local *locals, const ast::Expr *expr) {
  if (expr) wrong(*expr);
  if (name.empty()) return &ErrorType;
  llvm::SmallVector<StringRef, 64> candidates;
  for (; locals; locals = locals->parent) candidates.push_back(locals->name);
  for (Symbol *symbol : module.symbolOrder) candidates.push_back(symbol->name);
  for (const schema::Block &kind : schema::blocks())
    if (kind.isKind) candidates.push_back(kind.name);
  for (StringRef builtin : builtinNames()) candidates.push_back(builtin);
  auto report = a.diags.report(range, diag::UnknownName{.name = name});
  if (name == "True" || name == "False" || name == "None" || name == "nil") {
    StringRef ours = name == "True" ? "true" : name == "False" ? "false" : "null";
    report.fixit(range, ours, diag::DidYouMean{.name = ours});
    return &ErrorType;
  }
  if (name == "str") {
    report.note(diag::Interpolate{});
    return &ErrorType;
  }
  // The very name elsewhere says more than a similar one here.
  std::vector<std::string> paths = pathsTo(name);
  if (paths.size() == 1) {
    report.fixit(range, paths[0], diag::DidYouMean{.name = paths[0]});
    return &ErrorType;
  }
  if (!paths.empty()) {
    std::string all;
    for (const std::string &path : paths) all += (all.empty() ? "`" : ", `") + path + "`";
    report.note(diag::ThereAre{.names = all});
    return &ErrorType;
  }
  if (llvm::is_contained(stdlib::names(), name)) {
    std::string import = "import std." + name.str();
    report.note(diag::ImportFirst{.import = import});
    return &ErrorType;
  }
  if (isField(name)) {
    report.note(diag::FieldsAreNotInScope{.name = name});
    return &ErrorType;
  }
  StringRef near = nearestName(name, candidates);
  if (!near.empty()) report.fixit(range, near, diag::DidYouMean{.name = near});
  return &ErrorType;
}

// Where a declaration of this name, or something of this name in an import, is reached from here: `trainer.sgd`, `runtimes.torch`.
std::vector<std::string> Resolver::pathsTo(StringRef name) const {
  std::vector<std::string> paths;
  if (name.startswith("_")) return paths;
  auto declared = [&](const ModuleScope &in, llvm::function_ref<void(StringRef kind)> found) {
    for (const ast::Stmt *stmt : in.syntax->stmts)
      if (const auto *decl = ast::as<ast::Decl>(underAnnotations(stmt)))
        if (decl->name.text == name && !decl->interpolatedName && schema::isKindName(decl->kindName.text)) found(decl->kindName.text);
  };
  declared(module, [&](StringRef kind) {
    if (kind != "test" && kind != "profile") paths.push_back((kind + "." + name).str());
  });
  for (const Symbol *symbol : module.symbolOrder) {
    if (symbol->kind != Symbol::Kind::Import || !symbol->imported || !symbol->imported->syntax) continue;
    auto inside = symbol->imported->symbols.find(name);
    bool any = inside != symbol->imported->symbols.end() && inside->second->kind != Symbol::Kind::Import && inside->second->kind != Symbol::Kind::Type;
    declared(*symbol->imported, [&](StringRef kind) { any |= kind != "test" && kind != "profile"; });
    if (any) paths.push_back((symbol->name + "." + name).str());
  }
  return paths;
}

// Whether the declaration around this place has a field of that name, or some kind has one.
bool Resolver::isField(StringRef name) const {
  if (!hasSelf) return false;
  for (const ast::Stmt *stmt : selfStmts)
    if (const auto *field = ast::as<ast::Field>(underAnnotations(stmt)))
      if (field->target.parts[0].text == name) return true;
  for (const schema::Block &kind : schema::blocks())
    if (kind.isKind && kind.find(name)) return true;
  return false;
}

Binding Resolver::bindName(const ast::NameRef &ref, const Local *locals) {
  Binding result;
  for (const Local *local = locals; local; local = local->parent)
    if (local->name == ref.name) {
      result.kind = Binding::Kind::Local;
      return result;
    }
  auto symbol = module.symbols.find(ref.name);
  if (symbol != module.symbols.end()) {
    if (symbol->second->kind == Symbol::Kind::Import) {
      result.module = symbol->second->imported;
      result.kind = result.module ? Binding::Kind::Module : Binding::Kind::Error; // a broken import was reported
      result.name = ref.name;
      if (!result.module) wrong(ref);
      return result;
    }
    result.kind = Binding::Kind::Symbol;
    result.symbol = symbol->second;
    a.warnDeprecated(symbol->second->deprecated, ref.name, ref.range);
    return result;
  }
  if (schema::isKindName(ref.name)) {
    result.kind = Binding::Kind::Kinds;
    result.module = &module;
    result.declKind = ref.name;
    return result;
  }
  if (const Builtin *builtin = findBuiltin(ref.name); builtin && (inTest || ref.name != "manifests")) {
    result.kind = Binding::Kind::Builtin;
    result.builtin = builtin;
    return result;
  }
  unknownName(ref.name, ref.range, locals, &ref);
  return result;
}

bool Resolver::bindPath(const ast::Expr &expr, const Local *locals, Binding &result) {
  if (const auto *ref = ast::as<ast::NameRef>(&expr)) {
    result = bindName(*ref, locals);
  } else if (const auto *member = ast::as<ast::Member>(&expr)) {
    // Only a chain of names can be a path, and only its head can be a module or a kind.
    unsigned length = 0;
    const ast::Expr *head = member->object;
    while (const auto *inner = ast::as<ast::Member>(head)) {
      head = inner->object;
      if (++length > 2) return false;
    }
    if (head->kind != ast::ExprKind::NameRef) return false;
    Binding object;
    auto known = a.bindings.find(member->object);
    if (known != a.bindings.end())
      object = known->second;
    else if (!bindPath(*member->object, locals, object))
      return false;
    StringRef name = member->name.text;
    if (object.kind == Binding::Kind::Error) {
      a.reported.insert(&expr);
      result = object;
    } else if (name.empty() && (object.kind == Binding::Kind::Module || object.kind == Binding::Kind::Kinds)) {
      a.reported.insert(&expr);
      result = Binding();
    } else if (object.kind == Binding::Kind::Kinds) {
      result = {Binding::Kind::Decl, nullptr, nullptr, object.module, object.declKind, name};
      if (object.module != &module && name.startswith("_")) {
        a.diags.report(member->name.range, diag::PrivateName{.name = name, .module = object.module->shownName});
        a.reported.insert(&expr);
        result.kind = Binding::Kind::Error;
      } else {
        a.declUses.push_back({result, member->name.range, expr.range});
      }
    } else if (object.kind == Binding::Kind::Module) {
      auto symbol = object.module->symbols.find(name);
      if (name.startswith("_")) {
        a.diags.report(member->name.range, diag::PrivateName{.name = name, .module = object.name});
        a.reported.insert(&expr);
        result = Binding();
      } else if (symbol != object.module->symbols.end() && symbol->second->kind != Symbol::Kind::Import) {
        result = {Binding::Kind::Symbol, symbol->second, nullptr, nullptr, {}, {}};
        a.warnDeprecated(symbol->second->deprecated, name, member->name.range);
      } else if (schema::isKindName(name)) {
        result = {Binding::Kind::Kinds, nullptr, nullptr, object.module, name, {}};
      } else {
        result = {Binding::Kind::Member, nullptr, nullptr, object.module, {}, name};
        a.declUses.push_back({result, member->name.range, expr.range});
      }
    } else {
      return false;
    }
  } else {
    return false;
  }
  a.bindings[&expr] = result;
  return true;
}

const Type *Resolver::typeOfBinding(const Binding &binding, const ast::Expr &expr, const Local *locals) {
  switch (binding.kind) {
  case Binding::Kind::Error: return wrong(expr);
  case Binding::Kind::Local: {
    StringRef name = ast::as<ast::NameRef>(&expr)->name;
    for (const Local *local = locals; local; local = local->parent)
      if (local->name == name) return local->type;
    return &Type::any;
  }
  case Binding::Kind::Symbol:
    if (binding.symbol->kind == Symbol::Kind::Fn || binding.symbol->kind == Symbol::Kind::Type) {
      a.diags.report(expr.range, diag::NotAValue{.name = a.compilation.sources.text(expr.range), .what = nounOf(binding.symbol->kind)});
      return wrong(expr);
    }
    return a.typeOfSymbol(*binding.symbol);
  case Binding::Kind::Builtin:
    a.diags.report(expr.range, diag::NotAValue{.name = a.compilation.sources.text(expr.range), .what = "a function"});
    return wrong(expr);
  case Binding::Kind::Module:
    a.diags.report(expr.range, diag::NotAValue{.name = a.compilation.sources.text(expr.range), .what = "a module"});
    return wrong(expr);
  case Binding::Kind::Kinds:
    a.diags.report(expr.range, diag::NotAValue{.name = a.compilation.sources.text(expr.range), .what = "a kind"}).note(diag::NameADecl{.kind = binding.declKind});
    return wrong(expr);
  case Binding::Kind::Decl: {
    const schema::Block *kind = schema::find(binding.declKind);
    if (!kind) return &Type::any;
    Type *&type = a.refTypes[kind->name];
    if (!type) {
      type = a.arena.make<Type>(K::Ref);
      type->name = kind->name;
    }
    return type;
  }
  case Binding::Kind::Member: return &Type::any;
  }
  return &Type::any;
}

void Resolver::letOf(Symbol &symbol) {
  if (symbol.inferState != State::New) return;
  symbol.inferState = State::Active;
  const auto &let = *ast::as<ast::Let>(symbol.stmt);
  const Type *found = infer(*let.value, nullptr);
  if (let.type) {
    symbol.type = a.typeOf(*let.type, *symbol.module);
    checkArgument(*let.value, *symbol.type, found, "`" + let.name.text + "`");
  } else {
    symbol.type = found->kind == K::Error ? &Type::any : found;
  }
  symbol.inferState = State::Done;
}

const Type *Analyzer::typeOfSymbol(Symbol &symbol) {
  switch (symbol.kind) {
  case Symbol::Kind::Param: return typeOf(*ast::as<ast::Param>(symbol.stmt)->type, *symbol.module);
  case Symbol::Kind::Let: {
    const auto &let = *ast::as<ast::Let>(symbol.stmt);
    if (let.type) return typeOf(*let.type, *symbol.module);
    // A let further down, or one in a circle of lets, which evaluation reports. Very long chains are not followed.
    if (symbol.inferState == State::New && depth < depthLimit / 2) Resolver(*this, *symbol.module).letOf(symbol);
    return symbol.inferState == State::Done ? symbol.type : &Type::any;
  }
  case Symbol::Kind::Fn: return typeOf(*ast::as<ast::Fn>(symbol.stmt)->result, *symbol.module);
  default: return &Type::any;
  }
}

const Type *Resolver::call(const ast::Call &call, const Local *locals) {
  Binding callee;
  llvm::SmallVector<const Type *, 8> found;
  bool path = bindPath(*call.callee, locals, callee);
  for (const ast::Argument &arg : call.args) found.push_back(infer(*arg.value, locals));
  if (!path) {
    infer(*call.callee, locals);
    if (!a.reported.contains(call.callee)) a.diags.report(call.callee->range, diag::NotCallable{.name = a.compilation.sources.text(call.callee->range)});
    return wrong(call);
  }
  if (callee.kind == Binding::Kind::Error) return wrong(call);
  StringRef shown = a.compilation.sources.text(call.callee->range);
  bool fn = callee.kind == Binding::Kind::Symbol && callee.symbol->kind == Symbol::Kind::Fn;
  if (!fn && callee.kind != Binding::Kind::Builtin) {
    if (callee.kind == Binding::Kind::Member) { // an unknown name of a module: its functions are the likely meaning
      bool ambiguous = false;
      if (callee.module->declsByName.empty() || !a.findDecl(callee, ambiguous)) {
        if (!a.declUses.empty() && a.declUses.back().range == ast::as<ast::Member>(call.callee)->name.range) a.declUses.back().called = true;
        return wrong(call);
      }
    }
    a.diags.report(call.callee->range, diag::NotCallable{.name = shown});
    return wrong(call);
  }
  // Both kinds of functions have parameters with names; what is matched here holds for evaluation.
  struct Param {
    StringRef name;
    bool required;
    const Type *type;
  };
  llvm::SmallVector<Param, 8> params;
  bool variadic = false;
  if (fn) {
    for (const ast::FnParam &param : ast::as<ast::Fn>(callee.symbol->stmt)->params)
      params.push_back({param.name.text, !param.value, a.typeOf(*param.type, *callee.symbol->module)});
    if (inFunction) inFunction->calls.push_back({callee.symbol, call.callee->range});
  } else {
    for (const BuiltinParam &param : callee.builtin->params) params.push_back({param.name, param.required, &Type::any});
    variadic = callee.builtin->variadic;
  }
  llvm::SmallVector<const ast::Argument *, 8> given(params.size(), nullptr);
  bool bad = false, named = false;
  size_t position = 0;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const ast::Argument &arg = call.args[i];
    size_t index = params.size();
    if (arg.name.text.empty()) {
      if (named) {
        a.diags.report(arg.value->range, diag::PositionalAfterNamed{});
        bad = true;
        continue;
      }
      index = position++;
      if (index >= params.size()) {
        if (!variadic && !bad) {
          size_t count = params.size();
          a.diags.report(arg.value->range, diag::TooManyArguments{.function = shown, .count = count});
          bad = true;
        }
        continue;
      }
    } else {
      named = true;
      for (size_t p = 0; p < params.size(); ++p)
        if (params[p].name == arg.name.text) index = p;
      if (index == params.size()) {
        llvm::SmallVector<StringRef, 8> candidates;
        for (const Param &param : params) candidates.push_back(param.name);
        auto report = a.diags.report(arg.name.range, diag::NoSuchParameter{.function = shown, .name = arg.name.text});
        StringRef near = nearestName(arg.name.text, candidates);
        if (!near.empty()) report.fixit(arg.name.range, near, diag::DidYouMean{.name = near});
        bad = true;
        continue;
      }
      if (given[index]) {
        a.diags.report(arg.name.range, diag::DuplicateArgument{.name = arg.name.text});
        bad = true;
        continue;
      }
    }
    given[index] = &arg;
    checkArgument(*arg.value, *params[index].type, found[i], "`" + params[index].name + "` of `" + shown + "`");
  }
  if (!bad)
    for (size_t i = 0; i < params.size(); ++i)
      if (params[i].required && !given[i]) {
        SourceRange close = call.range;
        close.begin = close.end > close.begin ? close.end - 1 : close.begin;
        auto report = a.diags.report(close, diag::ArgumentMissing{.function = shown, .name = params[i].name});
        if (fn) report.note(ast::as<ast::Fn>(callee.symbol->stmt)->name.range, diag::DeclaredHere{});
        bad = true;
        break;
      }
  if (bad) return wrong(call);
  return fn ? a.typeOfSymbol(*callee.symbol) : callee.builtin->result;
}

static const char *const OpText[] = {"or", "and", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "..", "??", "+", "-", "*", "/", "%"};

const Type *Resolver::binaryType(const ast::Binary &expr, const Type *left, const Type *right) {
  using Op = ast::BinaryOp;
  static const Type anyList = [] { Type type{K::List}; type.element = &Type::any; return type; }();
  static const Type intList = [] { Type type{K::List}; type.element = &Type::integer; return type; }();
  K l = classOf(*left), r = classOf(*right);
  auto error = [&]() -> const Type * {
    if (left->kind == K::Error || right->kind == K::Error) return &ErrorType;
    std::string lt = "`" + typeText(*left) + "`", rt = "`" + typeText(*right) + "`";
    if (l == K::Source || r == K::Source) {
      a.diags.report(expr.opRange, diag::SecretUsed{.use = OpText[static_cast<int>(expr.op)]});
      return wrong(expr);
    }
    if ((expr.op == Op::Eq || expr.op == Op::Ne)) {
      a.diags.report(expr.opRange, diag::DifferentTypes{.left = lt, .right = rt});
      return wrong(expr);
    }
    auto report = a.diags.report(expr.opRange, diag::WrongOperands{.op = OpText[static_cast<int>(expr.op)], .left = lt, .right = rt});
    if (expr.op == Op::Add && (l == K::String || r == K::String)) report.note(diag::Interpolate{});
    if (expr.op == Op::Add && l == K::Block && r == K::Block) report.note(diag::UseMerge{});
    return wrong(expr);
  };
  bool known = l != K::Any && r != K::Any;
  bool numbers = numeric(l) && numeric(r);
  switch (expr.op) {
  case Op::Or:
  case Op::And: return (l == K::Bool || l == K::Any) && (r == K::Bool || r == K::Any) ? &Type::boolean : error();
  case Op::Eq:
  case Op::Ne:
    if (l == K::Source || r == K::Source) {
      // `secret(…) == null` asks whether there is one.
      bool null = expr.left->kind == ast::ExprKind::NullLiteral || expr.right->kind == ast::ExprKind::NullLiteral;
      return null ? &Type::boolean : error();
    }
    return !known || l == r || numbers || (l == K::Amount && numeric(r)) || (r == K::Amount && numeric(l)) ? &Type::boolean : error();
  case Op::Lt:
  case Op::Le:
  case Op::Gt:
  case Op::Ge: {
    auto ordered = [](K kind) { return numeric(kind) || kind == K::String || kind == K::Amount || kind == K::Duration || kind == K::Any; };
    if (!ordered(l) || !ordered(r)) return error();
    return !known || l == r || numbers || (l == K::Amount && numeric(r)) || (r == K::Amount && numeric(l)) ? &Type::boolean : error();
  }
  case Op::In:
  case Op::NotIn:
    if (r == K::Any || r == K::List) {
      if (r == K::List && known) {
        K element = classOf(*right->element);
        if (element != K::Any && element != l && !(numeric(element) && numeric(l))) return error();
        // A range of ints has no floats between them.
        if (l == K::Float && expr.right->kind == ast::ExprKind::Binary && ast::as<ast::Binary>(expr.right)->op == Op::Range) {
          a.diags.report(expr.right->range, diag::FloatInRange{});
          return wrong(expr);
        }
      }
      return &Type::boolean;
    }
    return (r == K::Block || r == K::String) && (l == K::String || l == K::Any) ? &Type::boolean : error();
  case Op::Range: return (l == K::Int || l == K::Any) && (r == K::Int || r == K::Any) ? &intList : error();
  case Op::Coalesce:
    if (left->kind == K::Error) return right;
    if (left->kind == K::Optional && classOf(*left->element) == r) return right;
    return l == r && l != K::List && l != K::Block ? left : &Type::any;
  case Op::Add:
    if (!known) break;
    if (l == K::Int && r == K::Int) return &Type::integer;
    if (numbers) return &Type::number;
    if (l == K::List && r == K::List) return left->element->kind == right->element->kind && left->element->kind != K::List ? left : &anyList;
    if (l == r && (l == K::String || l == K::Amount || l == K::Duration)) return l == K::String ? &Type::string : left;
    return error();
  case Op::Sub:
    if (!known) break;
    if (l == K::Int && r == K::Int) return &Type::integer;
    if (numbers) return &Type::number;
    if (l == r && (l == K::Amount || l == K::Duration)) return left;
    return error();
  case Op::Mul:
    if (!known) break;
    if (l == K::Int && r == K::Int) return &Type::integer;
    if (numbers) return &Type::number;
    if ((l == K::Amount || l == K::Duration) && numeric(r)) return left;
    if ((r == K::Amount || r == K::Duration) && numeric(l)) return right;
    return error();
  case Op::Div:
    if (!known) break;
    if (numbers) return &Type::number;
    if ((l == K::Amount || l == K::Duration) && numeric(r)) return left;
    if (l == r && (l == K::Amount || l == K::Duration)) return &Type::number;
    return error();
  case Op::Mod:
    if (!known) break;
    if (l == K::Int && r == K::Int) return &Type::integer;
    if (numbers) return &Type::number;
    return error();
  }
  // One side is unknown; the other may still be hopeless.
  for (K side : {l, r})
    if (side == K::Bool || side == K::Block || side == K::Ref || side == K::Source ||
        (expr.op != Op::Add && (side == K::String || side == K::List)))
      return error();
  return &Type::any;
}

const Type *Resolver::binary(const ast::Binary &expr, const Local *locals) {
  // A sum of ten thousand parts is a tree ten thousand deep, to the left.
  llvm::SmallVector<const ast::Binary *, 8> spine;
  const ast::Expr *leftmost = &expr;
  while (const auto *node = ast::as<ast::Binary>(leftmost)) {
    spine.push_back(node);
    leftmost = node->left;
  }
  const Type *type = infer(*leftmost, locals);
  while (!spine.empty()) {
    const ast::Binary &node = *spine.pop_back_val();
    const Type *right = infer(*node.right, locals);
    type = binaryType(node, type, right);
  }
  return type;
}

const Type *Resolver::infer(const ast::Expr &expr, const Local *locals) {
  if (a.tooDeep(expr.range)) return wrong(expr);
  struct Depth {
    unsigned &depth;
    ~Depth() { --depth; }
  } guard{++a.depth};
  switch (expr.kind) {
  case ast::ExprKind::ErrorExpr: return wrong(expr);
  case ast::ExprKind::IntLiteral: return &Type::integer;
  case ast::ExprKind::FloatLiteral: return &Type::number;
  case ast::ExprKind::AmountLiteral: return &Type::amount;
  case ast::ExprKind::DurationLiteral: return &Type::duration;
  case ast::ExprKind::BoolLiteral: return &Type::boolean;
  case ast::ExprKind::NullLiteral: {
    static const Type null = [] { Type type{K::Optional}; type.element = &Type::any; return type; }();
    return &null;
  }
  case ast::ExprKind::StringLiteral: {
    bool bad = false;
    for (const ast::StringPart &part : ast::as<ast::StringLiteral>(&expr)->parts) {
      if (!part.value) continue;
      const Type *type = infer(*part.value, locals);
      K kind = classOf(*type);
      if (kind == K::List || kind == K::Block || kind == K::Ref || kind == K::Source) {
        std::string found = "of type `" + typeText(*type) + "`";
        if (kind == K::Source)
          a.diags.report(part.value->range, diag::SecretUsed{.use = "printed"});
        else
          a.diags.report(part.value->range, diag::NotPrintable{.found = found}).note(diag::UseJson{});
        wrong(*part.value);
        bad = true;
      }
      bad |= type->kind == K::Error;
    }
    return bad ? wrong(expr) : &Type::string;
  }
  case ast::ExprKind::NameRef: {
    Binding binding = bindName(*ast::as<ast::NameRef>(&expr), locals);
    a.bindings[&expr] = binding;
    return typeOfBinding(binding, expr, locals);
  }
  case ast::ExprKind::Self:
    if (!hasSelf) {
      a.diags.report(expr.range, diag::SelfOutside{});
      return wrong(expr);
    }
    return &Type::any;
  case ast::ExprKind::Paren: return infer(*ast::as<ast::Paren>(&expr)->inner, locals);
  case ast::ExprKind::Block: block(*ast::as<ast::Block>(&expr), locals); return &Type::block;
  case ast::ExprKind::List: {
    const Type *element = nullptr;
    for (const ast::Expr *item : ast::as<ast::List>(&expr)->items) {
      const Type *type = infer(*item, locals);
      if (!element || type == element) element = type;
      else element = classOf(*type) == classOf(*element) && classOf(*type) != K::List ? element : &Type::any;
    }
    if (element && (element->kind == K::Error || element->kind == K::Optional)) element = &Type::any;
    Type *&type = a.listTypes[element ? element : &Type::any];
    if (!type) {
      type = a.arena.make<Type>(K::List);
      type->element = element ? element : &Type::any;
    }
    return type;
  }
  case ast::ExprKind::Comprehension: {
    const auto &node = *ast::as<ast::Comprehension>(&expr);
    const Local *inner = locals;
    for (const ast::Binding &each : node.bindings) inner = binding(each, inner);
    if (node.condition) condition(*node.condition, inner);
    const Type *element = infer(*node.item, inner);
    if (element->kind == K::Error || element->kind == K::Optional) element = &Type::any;
    Type *&type = a.listTypes[element];
    if (!type) {
      type = a.arena.make<Type>(K::List);
      type->element = element;
    }
    return type;
  }
  case ast::ExprKind::IfExpr: {
    const auto &node = *ast::as<ast::IfExpr>(&expr);
    condition(*node.condition, locals);
    const Type *then = infer(*node.then, locals), *otherwise = infer(*node.otherwise, locals);
    if (then == otherwise) return then;
    K kind = classOf(*then);
    return kind == classOf(*otherwise) && kind != K::List && kind != K::Ref ? then : &Type::any;
  }
  case ast::ExprKind::Unary: {
    const auto &node = *ast::as<ast::Unary>(&expr);
    const Type *type = infer(*node.operand, locals);
    if (type->kind == K::Error) return wrong(expr);
    K kind = classOf(*type);
    bool fine = kind == K::Any || (node.op == ast::UnaryOp::Not ? kind == K::Bool : numeric(kind) || kind == K::Amount || kind == K::Duration);
    if (!fine) {
      std::string found = "`" + typeText(*type) + "`";
      a.diags.report(expr.range, diag::WrongOperand{.op = node.op == ast::UnaryOp::Not ? "not" : "-", .found = found});
      return wrong(expr);
    }
    return node.op == ast::UnaryOp::Not ? &Type::boolean : type;
  }
  case ast::ExprKind::Binary: return binary(*ast::as<ast::Binary>(&expr), locals);
  case ast::ExprKind::Member: {
    const auto &node = *ast::as<ast::Member>(&expr);
    Binding binding;
    if (bindPath(expr, locals, binding)) return typeOfBinding(binding, expr, locals);
    auto known = a.bindings.find(node.object);
    const Type *type = known != a.bindings.end() ? typeOfBinding(known->second, *node.object, locals) : infer(*node.object, locals);
    if (type->kind == K::Error) return wrong(expr);
    K kind = classOf(*type);
    if (kind != K::Any && kind != K::Block && kind != K::Ref) {
      std::string found = "of type `" + typeText(*type) + "`";
      a.diags.report(node.name.range, diag::NoFields{.name = node.name.text, .found = found});
      return wrong(expr);
    }
    if (type->kind == K::Map) return type->element;
    if (type->kind == K::Record) {
      for (const RecordMember &member : type->members)
        if (member.name == node.name.text) return member.type;
      if (node.name.text.empty()) return wrong(expr);
      llvm::SmallVector<StringRef, 8> candidates;
      for (const RecordMember &member : type->members) candidates.push_back(member.name);
      auto report = a.diags.report(node.name.range, diag::AbsentKey{.key = node.name.text});
      StringRef near = nearestName(node.name.text, candidates);
      if (!near.empty()) report.fixit(node.name.range, near, diag::DidYouMean{.name = near});
      return wrong(expr);
    }
    return &Type::any;
  }
  case ast::ExprKind::Call: return call(*ast::as<ast::Call>(&expr), locals);
  case ast::ExprKind::Index: {
    const auto &node = *ast::as<ast::Index>(&expr);
    const Type *object = infer(*node.object, locals), *index = infer(*node.index, locals);
    if (object->kind == K::Error || index->kind == K::Error) return wrong(expr);
    K o = classOf(*object), i = classOf(*index);
    bool fine = o == K::Any || (o == K::List && (i == K::Int || i == K::Any)) || (o == K::Block && (i == K::String || i == K::Any)) ||
                (o == K::String && (i == K::Int || i == K::Any));
    if (!fine) {
      std::string found = "`" + typeText(*object) + "`", with = "`" + typeText(*index) + "`";
      a.diags.report(node.index->range, diag::BadIndex{.found = found, .index = with});
      return wrong(expr);
    }
    return o == K::List || object->kind == K::Map ? object->element : o == K::String ? &Type::string : &Type::any;
  }
  case ast::ExprKind::With: {
    const auto &node = *ast::as<ast::With>(&expr);
    const Type *type = infer(*node.object, locals);
    block(*node.block, locals);
    if (type->kind == K::Error) return wrong(expr);
    K kind = classOf(*type);
    if (kind != K::Any && kind != K::Block && kind != K::Ref) {
      std::string found = "of type `" + typeText(*type) + "`";
      a.diags.report(node.object->range, diag::CannotAmend{.found = found});
      return wrong(expr);
    }
    return &Type::block;
  }
  }
  return &Type::any;
}

void Analyzer::resolve(ModuleScope &module) { Resolver(*this, module).run(); }

// ---- functions in circles ----

void Analyzer::checkRecursion() {
  // Depth first with an explicit stack: a program may have thousands of functions calling one another in a row.
  llvm::DenseMap<Symbol *, State> states;
  for (Symbol *root : functions) {
    if (states[root] != State::New) continue;
    struct Step {
      Symbol *fn;
      size_t next;
    };
    std::vector<Step> stack{{root, 0}};
    states[root] = State::Active;
    while (!stack.empty()) {
      Step &top = stack.back();
      if (top.next == top.fn->calls.size()) {
        states[top.fn] = State::Done;
        stack.pop_back();
        continue;
      }
      auto [callee, range] = top.fn->calls[top.next++];
      State state = states[callee];
      if (state == State::New) {
        states[callee] = State::Active;
        stack.push_back({callee, 0});
      } else if (state == State::Active) {
        std::string cycle;
        bool on = false, known = false;
        for (const Step &step : stack) {
          on |= step.fn == callee;
          if (!on) continue;
          known |= step.fn->recursive;
          cycle += "`" + step.fn->name.str() + "` → ";
        }
        if (!known) diags.report(range, diag::RecursiveFunction{.name = callee->name, .cycle = cycle + "`" + callee->name.str() + "`"});
        on = false;
        for (const Step &step : stack) {
          on |= step.fn == callee;
          if (on) step.fn->recursive = true;
        }
      }
    }
  }
}

// ---- references to declarations ----

DeclInfo *Analyzer::findDecl(const Binding &binding, bool &ambiguous) {
  ambiguous = false;
  if (binding.kind == Binding::Kind::Decl) {
    auto found = binding.module->decls.find({binding.declKind, binding.name});
    return found == binding.module->decls.end() ? nullptr : found->second;
  }
  auto found = binding.module->declsByName.find(binding.name);
  if (found == binding.module->declsByName.end() || found->second.empty()) return nullptr;
  if (found->second.size() > 1) {
    ambiguous = true;
    return nullptr;
  }
  return found->second[0];
}

// A declaration of that name under an `if` or `for` that did not make it.
static const ast::Decl *inactive(ArrayRef<const ast::Stmt *> stmts, StringRef kind, StringRef name, bool inside) {
  for (const ast::Stmt *outer : stmts) {
    const ast::Stmt *stmt = underAnnotations(outer);
    if (!stmt) continue;
    if (const auto *decl = ast::as<ast::Decl>(stmt)) {
      if (inside && (kind.empty() || decl->kindName.text == kind) && decl->name.text == name && !decl->interpolatedName) return decl;
    } else if (const auto *loop = ast::as<ast::For>(stmt)) {
      if (const ast::Decl *found = inactive(loop->block->stmts, kind, name, true)) return found;
    } else {
      for (const auto *node = ast::as<ast::If>(stmt); node; node = ast::as<ast::If>(node->elseIf)) {
        if (const ast::Decl *found = inactive(node->then->stmts, kind, name, true)) return found;
        if (node->otherwise)
          if (const ast::Decl *found = inactive(node->otherwise->stmts, kind, name, true)) return found;
      }
    }
  }
  return nullptr;
}

void Analyzer::checkDeclRefs() {
  for (const DeclUse &use : declUses) {
    const Binding &binding = use.binding;
    bool ambiguous = false;
    if (DeclInfo *decl = findDecl(binding, ambiguous)) {
      warnDeprecated(decl->deprecated, binding.name, use.range);
      continue;
    }
    if (ambiguous) {
      std::string kinds;
      for (DeclInfo *decl : binding.module->declsByName[binding.name]) kinds += (kinds.empty() ? "`" : ", `") + decl->kind.str() + "." + decl->name.str() + "`";
      diags.report(use.range, diag::AmbiguousName{.name = binding.name, .candidates = kinds});
      continue;
    }
    if (const ast::Decl *decl = inactive(binding.module->syntax->stmts, binding.declKind, binding.name, false)) {
      std::string full = decl->kindName.text.str() + "." + binding.name.str();
      diags.report(use.kindRange, diag::InactiveDecl{.name = full}).note(decl->name.range, diag::DeclaredUnderCondition{});
      continue;
    }
    if (binding.module->uncertain) continue; // it may be among those that a failed condition would have made
    llvm::SmallVector<StringRef, 64> candidates;
    for (DeclInfo *decl : binding.module->order)
      if ((binding.declKind.empty() || decl->kind == binding.declKind) && (binding.module == main || !decl->name.startswith("_")))
        candidates.push_back(decl->name);
    if (binding.declKind.empty()) {
      candidates.clear();
      for (Symbol *symbol : binding.module->symbolOrder)
        if (symbol->kind != Symbol::Kind::Import && !symbol->name.startswith("_") && (!use.called || symbol->kind == Symbol::Kind::Fn))
          candidates.push_back(symbol->name);
      if (!use.called)
        for (DeclInfo *decl : binding.module->order)
          if (!decl->name.startswith("_")) candidates.push_back(decl->name);
    }
    StringRef near = nearestName(binding.name, candidates);
    auto report = binding.declKind.empty()
                      ? diags.report(use.range, diag::UnknownInModule{.module = binding.module->shownName, .name = binding.name})
                      : diags.report(use.range, diag::UnknownDecl{.kind = binding.declKind, .name = binding.name});
    if (!near.empty()) {
      report.fixit(use.range, near, diag::DidYouMean{.name = near});
      continue;
    }
    // Nothing is near: say where the name does exist, or list what there is when that is short.
    bool elsewhere = false;
    for (DeclInfo *decl : binding.module->order)
      if (!binding.declKind.empty() && decl->name == binding.name && !elsewhere) {
        std::string full = decl->kind.str() + "." + decl->name.str();
        report.fixit(use.kindRange, full, diag::DidYouMean{.name = full});
        elsewhere = true;
      }
    if (!elsewhere && !candidates.empty() && candidates.size() <= 12) {
      llvm::sort(candidates);
      std::string all;
      for (StringRef name : candidates) all += (all.empty() ? "`" : ", `") + name.str() + "`";
      report.note(diag::ThereAre{.names = all});
    }
  }
}

} // namespace kft::sema
