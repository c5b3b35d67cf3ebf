// Where params get their values: `--set`, then `--params` files, then the `set` of profiles, then the default; the first
// that gives one wins, and all of them go through the same check. Text from the command line is a literal of the language
// when it reads as one of the declared type; for a param that takes text it is the text itself.
#include "compiler/sema/data.h"
#include "compiler/sema/eval.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

namespace kft::sema {

namespace {

bool takesText(const Type &type) {
  switch (type.kind) {
  case Type::Kind::String:
  case Type::Kind::Any: return true;
  case Type::Kind::Optional: return takesText(*type.element);
  case Type::Kind::Choice: return !type.strings.empty() || llvm::any_of(type.others, [](const Type *other) { return takesText(*other); });
  default: return false;
  }
}

// Literals, lists and blocks of literals: what may stand outside a program.
bool isLiteral(const ast::Expr &expr) {
  switch (expr.kind) {
  case ast::ExprKind::IntLiteral:
  case ast::ExprKind::FloatLiteral:
  case ast::ExprKind::AmountLiteral:
  case ast::ExprKind::DurationLiteral:
  case ast::ExprKind::BoolLiteral:
  case ast::ExprKind::NullLiteral: return true;
  case ast::ExprKind::StringLiteral:
    return llvm::none_of(ast::as<ast::StringLiteral>(&expr)->parts, [](const ast::StringPart &part) { return part.value != nullptr; });
  case ast::ExprKind::Paren: return isLiteral(*ast::as<ast::Paren>(&expr)->inner);
  case ast::ExprKind::Unary: return ast::as<ast::Unary>(&expr)->op == ast::UnaryOp::Minus && isLiteral(*ast::as<ast::Unary>(&expr)->operand);
  case ast::ExprKind::List: return llvm::all_of(ast::as<ast::List>(&expr)->items, [](const ast::Expr *item) { return isLiteral(*item); });
  case ast::ExprKind::Block:
    return llvm::all_of(ast::as<ast::Block>(&expr)->stmts, [](const ast::Stmt *stmt) {
      if (const auto *field = ast::as<ast::Field>(stmt)) return isLiteral(*field->value);
      if (const auto *block = ast::as<ast::BlockField>(stmt)) return isLiteral(*block->block);
      return false;
    });
  default: return false;
  }
}

} // namespace

Symbol *Analyzer::findParam(ModuleScope &from, StringRef path, SourceRange at, StringRef) {
  auto [first, rest] = path.split('.');
  ModuleScope *module = &from;
  StringRef name = first;
  if (!rest.empty()) {
    auto import = from.symbols.find(first);
    if (import == from.symbols.end() || import->second->kind != Symbol::Kind::Import || !import->second->imported) {
      if (import == from.symbols.end() || import->second->kind != Symbol::Kind::Import) diags.report(at, diag::UnknownParam{.name = path}).note(diag::ParamOfImport{});
      return nullptr;
    }
    module = import->second->imported;
    name = rest;
  }
  auto symbol = module->symbols.find(name);
  if (symbol != module->symbols.end() && symbol->second->kind == Symbol::Kind::Param && !(module != &from && name.startswith("_")))
    return symbol->second;
  if (symbol != module->symbols.end()) {
    diags.report(at, diag::NotAParam{.name = path});
    return nullptr;
  }
  auto report = diags.report(at, diag::UnknownParam{.name = path});
  llvm::SmallVector<StringRef, 16> candidates;
  for (Symbol *other : module->symbolOrder)
    if (other->kind == Symbol::Kind::Param) candidates.push_back(other->name);
  if (rest.empty())
    for (Symbol *other : module->symbolOrder) {
      if (other->kind != Symbol::Kind::Import || !other->imported) continue;
      auto inside = other->imported->symbols.find(name);
      if (inside == other->imported->symbols.end() || inside->second->kind != Symbol::Kind::Param || name.startswith("_")) continue;
      std::string there = other->name.str() + "." + name.str();
      if (at.valid())
        report.fixit(at, there, diag::DidYouMean{.name = there});
      else
        report.note(diag::DidYouMean{.name = there});
      return nullptr;
    }
  StringRef near = nearestName(name, candidates);
  std::string full = rest.empty() ? near.str() : first.str() + "." + near.str();
  if (!near.empty()) {
    if (at.valid())
      report.fixit(at, full, diag::DidYouMean{.name = full});
    else
      report.note(diag::DidYouMean{.name = full});
  } else if (candidates.empty()) {
    report.note(diag::NoParams{});
  } else if (candidates.size() <= 12) {
    llvm::sort(candidates);
    std::string all;
    for (StringRef each : candidates) all += (all.empty() ? "`" : ", `") + each.str() + "`";
    report.note(diag::ThereAre{.names = all});
  }
  return nullptr;
}

void Analyzer::setParam(Symbol &param, const Value &value, SourceRange at, bool, StringRef) {
  warnDeprecated(param.deprecated, param.name, at);
  const Type *type = typeOf(*ast::as<ast::Param>(param.stmt)->type, *param.module);
  Value converted = convertTo(value, *type, at, "`" + param.name + "`");
  param.given = true;
  param.givenAt = at;
  param.value = converted;
  if (converted.isPoison()) reported.insert(&param);
}

// The value of `--set name=text`. Everything that stands in the text is looked at before anything is reported: most texts
// are not meant to be read as the language at all.
static Value readSetting(Analyzer &analyzer, StringRef text, const Type &type, SourceRange at, FileId file) {
  if (size_t bad = 0; !llvm::json::isUTF8(text, &bad)) {
    std::string byte = "0x" + llvm::utohexstr(static_cast<unsigned char>(text[bad]), /*LowerCase=*/true);
    uint32_t offset = at.begin + static_cast<uint32_t>(bad);
    analyzer.diags.report(SourceRange{at.file, offset, offset + 1}, diag::BadUtf8{.byte = byte});
    return Value::poison();
  }
  Value result;
  bool literal = false;
  if (!text.empty() && text.find('\n') == StringRef::npos && text.find('\0') == StringRef::npos) {
    analyzer.quietly([&] {
      const ast::Module &module = analyzer.compilation.parse(file);
      if (module.hasErrors || module.stmts.size() != 1 || analyzer.compilation.sources.text(file).contains('#')) return;
      const auto *field = ast::as<ast::Field>(module.stmts[0]);
      if (!field || field->append || field->target.parts.size() != 1 || !isLiteral(*field->value)) return;
      result = analyzer.deep(analyzer.eval(*field->value, {}));
      literal = !result.isPoison();
    });
  }
  if (literal && (accepts(type, result) || !takesText(type))) return result;
  if (takesText(type)) return Value::string(analyzer.arena.save(text));
  std::string shown = text.str(), wanted = wantedText(type);
  analyzer.diags.report(at, diag::NotALiteral{.text = shown, .wanted = wanted});
  return Value::poison();
}

void Analyzer::assignParams(ModuleScope &module) {
  llvm::DenseSet<Symbol *> done;
  auto give = [&](Symbol *symbol, const Value &value, SourceRange at) {
    if (!symbol || !done.insert(symbol).second) return;
    if (value.isPoison()) {
      symbol->given = true;
      symbol->value = value;
      reported.insert(symbol);
      return;
    }
    setParam(*symbol, value, at, false, {});
  };

  // The last `--set` of a name wins.
  const auto &set = compilation.options.set;
  for (size_t i = set.size(); i-- > 0;) {
    const auto &[name, text] = set[i];
    // Reads as a statement, so that the parser of the language serves; ranges point into the part the user wrote.
    std::string prefix = "value = ";
    FileId file = compilation.sources.add("--set " + name, prefix + text);
    FileId shownFile = compilation.sources.add("--set", name + "=" + text);
    SourceRange nameRange{shownFile, 0, static_cast<uint32_t>(name.size())};
    SourceRange range{shownFile, static_cast<uint32_t>(name.size() + 1), static_cast<uint32_t>(name.size() + 1 + text.size())};
    Symbol *symbol = findParam(module, arena.save(name), nameRange, "--set");
    if (!symbol || done.contains(symbol)) continue;
    const Type *type = typeOf(*ast::as<ast::Param>(symbol->stmt)->type, *symbol->module);
    give(symbol, readSetting(*this, text, *type, range, file), range);
  }

  // Later files win over earlier ones.
  const auto &files = compilation.options.paramFiles;
  for (size_t i = files.size(); i-- > 0;) {
    StringRef path = files[i];
    auto file = compilation.sources.load(path);
    if (!file) {
      std::string reason = llvm::toString(file.takeError());
      diags.report(SourceRange(), diag::CannotReadParams{.file = path, .reason = reason});
      continue;
    }
    StringRef text = compilation.sources.text(*file);
    StringRef extension = llvm::sys::path::extension(path);
    std::optional<Value> value;
    if (extension == ".kft") {
      const ast::Module &syntax = compilation.parse(*file);
      if (syntax.hasErrors) continue;
      bool bad = false;
      llvm::SmallVector<const ast::Stmt *, 16> stmts;
      for (const ast::Stmt *stmt : syntax.stmts) {
        const auto *field = ast::as<ast::Field>(stmt);
        const auto *block = ast::as<ast::BlockField>(stmt);
        const ast::Expr *given = field && !field->append ? field->value : block ? block->block : nullptr;
        if (field && field->target.parts.size() == 1 && field->target.parts[0].text == "edition") continue;
        if (!given || !isLiteral(*given)) {
          diags.report(stmt->range, diag::BadParamsStatement{});
          bad = true;
          continue;
        }
        stmts.push_back(stmt);
      }
      if (bad) continue;
      Object *object = makeObject();
      Layer layer;
      layer.fragments.push_back({arena.copy<const ast::Stmt *>(stmts), 0, nullptr, {}});
      object->layers.push_back(std::move(layer));
      value = materialize(*object, {});
      if (value->isPoison()) continue;
    } else if (extension == ".yaml" || extension == ".yml" || extension == ".json") {
      data::ParseError error;
      SourceRange whole{*file, 0, 0};
      bool isJson = extension == ".json";
      const uint64_t before = elementsLeft;
      value = (isJson ? data::parseJson : data::parseYaml)(text, *file, whole, arena, elementsLeft, error);
      if (!value) {
        elementsLeft = before; // nothing of it is kept, and the rest of the input is still judged
        uint32_t offset = std::min<uint32_t>(error.offset, static_cast<uint32_t>(text.size()));
        diags.report(SourceRange{*file, offset, std::min<uint32_t>(offset + 1, static_cast<uint32_t>(text.size()))},
                     diag::BadParamsFile{.format = isJson ? "JSON" : "YAML", .reason = error.message});
        continue;
      }
    } else {
      diags.report(SourceRange(), diag::CannotReadParams{.file = path, .reason = "params are read from `.yaml`, `.json` and `.kft`"});
      continue;
    }
    if (value->isNull()) continue; // an empty file
    if (!value->is(ValueKind::Block)) {
      diags.report(SourceRange{*file, 0, 0}, diag::BadParamsFile{.format = "params", .reason = "names with values are wanted at the top"});
      continue;
    }
    auto text2value = [&](Symbol *symbol, const Entry &entry) {
      if (!symbol) return;
      Value given = entry.value;
      // YAML and JSON have no amounts and durations: `16Gi` and `30s` are text there.
      const Type *type = typeOf(*ast::as<ast::Param>(symbol->stmt)->type, *symbol->module);
      if (extension != ".kft" && given.is(ValueKind::String) && !accepts(*type, given)) {
        FileId piece = compilation.sources.add("--params", "value = " + given.asString().str());
        bool fits = false;
        Value literal;
        quietly([&] {
          if (given.asString().find('\n') != StringRef::npos) return;
          const ast::Module &syntax = compilation.parse(piece);
          const auto *field = syntax.hasErrors || syntax.stmts.size() != 1 ? nullptr : ast::as<ast::Field>(syntax.stmts[0]);
          if (!field || field->append || (field->value->kind != ast::ExprKind::AmountLiteral && field->value->kind != ast::ExprKind::DurationLiteral)) return;
          literal = eval(*field->value, {});
          fits = accepts(*type, literal);
        });
        if (fits) given = literal;
      }
      give(symbol, given, entry.range);
    };
    for (const Entry &entry : value->asBlock().entries) {
      auto import = module.symbols.find(entry.key);
      if (entry.value.is(ValueKind::Block) && import != module.symbols.end() && import->second->kind == Symbol::Kind::Import) {
        for (const Entry &inner : entry.value.asBlock().entries)
          text2value(findParam(module, arena.save((entry.key + "." + inner.key).str()), inner.keyRange, "--params"), inner);
        continue;
      }
      text2value(findParam(module, entry.key, entry.keyRange, "--params"), entry);
    }
  }

  // Later profiles win over earlier ones.
  for (size_t i = profiles.size(); i-- > 0;) {
    const ast::Decl &profile = *profiles[i].decl;
    const Env *env = withLets(nullptr, profile.block->stmts, nullptr, nullptr);
    for (const ast::Stmt *stmt : profile.block->stmts) {
      while (const auto *annotation = ast::as<ast::Annotation>(stmt)) stmt = annotation->target;
      const auto *block = ast::as<ast::BlockField>(stmt);
      if (!block || block->target.parts.size() != 1 || block->target.parts[0].text != "set") continue;
      Object *object = makeObject();
      Layer layer;
      layer.fragments.push_back({block->block->stmts, 0, env, {}});
      layer.range = block->block->range;
      object->layers.push_back(std::move(layer));
      object->range = block->block->range;
      build(*object);
      for (Slot *slot : object->slots) {
        auto import = module.symbols.find(slot->key);
        bool nested = import != module.symbols.end() && import->second->kind == Symbol::Kind::Import;
        if (nested) {
          Value inner = deep(force(*object, *slot, slot->keyRange));
          if (!inner.is(ValueKind::Block) || !import->second->imported) continue;
          for (const Entry &entry : inner.asBlock().entries) {
            auto symbol = import->second->imported->symbols.find(entry.key);
            if (symbol != import->second->imported->symbols.end() && symbol->second->kind == Symbol::Kind::Param) give(symbol->second, entry.value, entry.range);
          }
          continue;
        }
        auto symbol = module.symbols.find(slot->key); // unknown names were reported where they stand
        if (symbol == module.symbols.end() || symbol->second->kind != Symbol::Kind::Param || done.contains(symbol->second)) continue;
        Value value = deep(force(*object, *slot, slot->keyRange));
        give(symbol->second, value, slot->range);
      }
    }
  }

  for (ModuleScope *each : loadOrder)
    for (Symbol *symbol : each->symbolOrder)
      if (symbol->kind == Symbol::Kind::Param) forceSymbol(*symbol, symbol->range);
}

} // namespace kft::sema
