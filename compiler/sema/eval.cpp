// The interpreter of expressions. Total: no recursion in functions, every list, string, step and level is counted, and what
// reads itself is found while it is being computed. A failed expression is reported once, however often it is evaluated,
// and its value is poison, which every operation accepts in silence.
#include "compiler/sema/eval.h"
#include "compiler/sema/schema.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <pthread.h>

namespace kft::sema {

namespace {

using Op = ast::BinaryOp;

const char *const OpText[] = {"or", "and", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "..", "??", "+", "-", "*", "/", "%"};

constexpr unsigned MaxNesting = 1000; // of blocks and lists in a value

bool numeric(const Value &value) { return value.is(ValueKind::Int) || value.is(ValueKind::Float); }
bool blockLike(const Value &value) { return value.is(ValueKind::Block) || value.is(ValueKind::Lazy); }

const ast::Stmt *underAnnotations(const ast::Stmt *stmt) {
  while (const auto *annotation = ast::as<ast::Annotation>(stmt)) stmt = annotation->target;
  return stmt;
}

// Whether the statements could give a field `key`, whichever way their conditions turn out.
bool mayDefine(ArrayRef<const ast::Stmt *> stmts, StringRef key) {
  auto named = [&](const ast::Path &path) { return path.parts[0].interpolated || path.parts[0].text == key; };
  for (const ast::Stmt *outer : stmts) {
    const ast::Stmt *stmt = underAnnotations(outer);
    if (!stmt) continue;
    switch (stmt->kind) {
    case ast::StmtKind::Field:
      if (named(ast::as<ast::Field>(stmt)->target)) return true;
      break;
    case ast::StmtKind::BlockField:
      if (named(ast::as<ast::BlockField>(stmt)->target)) return true;
      break;
    case ast::StmtKind::For:
      if (mayDefine(ast::as<ast::For>(stmt)->block->stmts, key)) return true;
      break;
    case ast::StmtKind::If:
      for (const auto *node = ast::as<ast::If>(stmt); node; node = ast::as<ast::If>(node->elseIf))
        if (mayDefine(node->then->stmts, key) || (node->otherwise && mayDefine(node->otherwise->stmts, key))) return true;
      break;
    default: break;
    }
  }
  return false;
}

__int128 gcd(__int128 a, __int128 b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b) {
    __int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a ? a : 1;
}

// nano * factor or nano / factor, when it comes out whole and within what Kubernetes can hold.
std::optional<__int128> scale(__int128 nano, const Value &factor, bool divide) {
  __int128 over = 1, under = 1;
  if (factor.is(ValueKind::Int)) {
    over = factor.asInt();
  } else {
    // The decimal digits as they print: 0.1 means a tenth, not its nearest double.
    std::string text = floatText(factor.asFloat());
    StringRef rest = text;
    bool negative = rest.consume_front("-");
    auto [mantissa, exponentText] = rest.split('e');
    int exponent = 0;
    exponentText.consume_front("+");
    if (!exponentText.empty()) exponentText.getAsInteger(10, exponent);
    auto [whole, fraction] = mantissa.split('.');
    if (fraction == "0") fraction = "";
    over = 0;
    for (char c : whole) over = over * 10 + (c - '0');
    for (char c : fraction) over = over * 10 + (c - '0');
    exponent -= static_cast<int>(fraction.size());
    if (exponent > 30 || exponent < -37) return std::nullopt;
    for (; exponent > 0; --exponent)
      if (__builtin_mul_overflow(over, static_cast<__int128>(10), &over)) return std::nullopt;
    for (; exponent < 0; ++exponent) under *= 10;
    if (negative) over = -over;
  }
  if (divide) std::swap(over, under);
  if (under == 0) return std::nullopt;
  if (under < 0) {
    under = -under;
    over = -over;
  }
  __int128 common = gcd(nano, under);
  nano /= common;
  under /= common;
  common = gcd(over, under);
  over /= common;
  under /= common;
  __int128 result;
  if (under != 1 || __builtin_mul_overflow(nano, over, &result)) return std::nullopt;
  return result;
}

constexpr __int128 MaxNano = static_cast<__int128>(INT64_MAX) * 1'000'000'000;

} // namespace

Analyzer::~Analyzer() = default;

// ---- limits ----

void onLargeStack(unsigned &depthLimit, llvm::function_ref<void()> body) {
  struct Start {
    llvm::function_ref<void()> body;
  } start{body};
  pthread_attr_t attributes;
  pthread_t thread;
  bool started = false;
  if (!pthread_attr_init(&attributes)) {
    // Address space only: pages are taken as the stack grows.
    if (!pthread_attr_setstacksize(&attributes, size_t(256) << 20))
      started = !pthread_create(&thread, &attributes, [](void *data) -> void * {
        static_cast<Start *>(data)->body();
        return nullptr;
      }, &start);
    pthread_attr_destroy(&attributes);
  }
  if (started) {
    pthread_join(thread, nullptr);
    return;
  }
  depthLimit = 300;
  body();
}

bool Analyzer::tooDeep(SourceRange at) {
  if (depth < depthLimit) return stopped;
  if (!stopped) diags.report(at, diag::ChainTooDeep{});
  return stopped = true;
}

bool Analyzer::step(SourceRange at) {
  if (stopped) return false;
  if (stepsLeft-- > 0) return true;
  stepsLeft = 0;
  stopped = true;
  diags.report(at, diag::TooManySteps{});
  return false;
}

bool Analyzer::spendElements(uint64_t count, SourceRange at) {
  if (stopped) return false;
  if (count <= elementsLeft) {
    elementsLeft -= count;
    return true;
  }
  stopped = true;
  diags.report(at, diag::TooManyElements{});
  return false;
}

// ---- circles ----

static std::string pathOf(const Object &object) {
  std::string path;
  for (const Object *at = &object; at; at = at->parent) {
    std::string part = at->decl ? at->decl->kind.str() + "." + at->decl->name.str() : at->label.str();
    if (part.empty()) continue;
    path = path.empty() ? part : part + "." + path;
    if (at->decl) break;
  }
  return path;
}

std::string Analyzer::frameName(const Frame &frame) {
  switch (frame.kind) {
  case Frame::Kind::Thunk: return static_cast<const Thunk *>(frame.what)->let->name.text.str();
  case Frame::Kind::Symbol: return static_cast<const Symbol *>(frame.what)->name.str();
  case Frame::Kind::Object: {
    std::string path = pathOf(*static_cast<const Object *>(frame.what));
    return path.empty() ? "{ … }" : path;
  }
  case Frame::Kind::Slot: {
    std::string path = pathOf(*static_cast<const Object *>(frame.owner));
    return (path.empty() ? "" : path + ".") + static_cast<const Slot *>(frame.what)->key.str();
  }
  case Frame::Kind::Base: {
    const auto &decl = *static_cast<const DeclInfo *>(frame.what);
    return decl.kind.str() + "." + decl.name.str();
  }
  }
  return {};
}

void Analyzer::reportCycle(const void *what, SourceRange at) {
  size_t start = frames.size();
  while (start > 0 && frames[start - 1].what != what) --start;
  std::string cycle, first;
  if (start == 0) {
    // A condition that decides about a field it reads: no frame of its own.
    std::string path = frames.empty() ? "it" : frameName(frames.back());
    cycle = "`" + path + "`";
  } else {
    // Blocks on the way say nothing that their fields do not say.
    size_t shown = 0;
    for (size_t i = start - 1; i < frames.size(); ++i) {
      if (frames[i].kind == Frame::Kind::Object && i != start - 1) continue;
      if (++shown > 12) continue;
      std::string name = frameName(frames[i]);
      if (first.empty()) first = name;
      cycle += "`" + name + "` → ";
    }
    if (shown > 12) cycle += "… → ";
    cycle += "`" + first + "`";
  }
  auto report = diags.report(at, diag::Cycle{.cycle = cycle});
  // `param n: int where n > 0`
  if (start > 0 && start == frames.size() && frames.back().kind == Frame::Kind::Symbol) {
    const auto &symbol = *static_cast<const Symbol *>(frames.back().what);
    const auto *param = symbol.kind == Symbol::Kind::Param ? ast::as<ast::Param>(symbol.stmt) : nullptr;
    if (param && param->condition && param->condition->range.file == at.file && param->condition->range.begin <= at.begin && at.end <= param->condition->range.end)
      report.note(diag::ItIsTheValue{});
  }
}

// ---- names and thunks ----

Value Analyzer::force(Thunk &thunk) {
  const ast::Let &let = *thunk.let;
  if (thunk.state == State::Done) return thunk.value;
  if (thunk.state == State::Active) {
    if (reported.insert(&thunk).second) reportCycle(&thunk, let.name.range);
    return Value::poison();
  }
  thunk.state = State::Active;
  frames.push_back({&thunk, let.name.range, Frame::Kind::Thunk, nullptr});
  Value value = eval(*let.value, {thunk.env, thunk.self});
  frames.pop_back();
  if (let.type)
    if (auto type = types.find(let.type); type != types.end() && type->second->kind != Type::Kind::Any)
      value = convertTo(deep(value), *type->second, let.value->range, "`" + let.name.text + "`");
  thunk.value = value;
  thunk.state = State::Done;
  return value;
}

Value Analyzer::forceSymbol(Symbol &symbol, SourceRange at) {
  if (symbol.state == State::Done) return symbol.value;
  if (symbol.kind != Symbol::Kind::Let && symbol.kind != Symbol::Kind::Param) return Value::poison();
  if (symbol.state == State::Active) {
    if (reported.insert(&symbol).second) reportCycle(&symbol, at);
    return Value::poison();
  }
  symbol.state = State::Active;
  frames.push_back({&symbol, symbol.range, Frame::Kind::Symbol, nullptr});
  if (symbol.kind == Symbol::Kind::Let) {
    const auto &let = *ast::as<ast::Let>(symbol.stmt);
    Value value = eval(*let.value, {});
    if (let.type) {
      const Type *type = typeOf(*let.type, *symbol.module);
      if (type->kind != Type::Kind::Any) value = convertTo(deep(value), *type, let.value->range, "`" + symbol.name + "`");
    }
    symbol.value = value;
  } else {
    const auto &param = *ast::as<ast::Param>(symbol.stmt);
    const Type *type = typeOf(*param.type, *symbol.module);
    std::string what = "`" + symbol.name.str() + "`";
    Value value;
    SourceRange range = symbol.range;
    // The default is judged even when something else is used: it is wrong for everybody who does not give a value.
    if (param.value) {
      value = convertTo(deep(eval(*param.value, {})), *type, param.value->range, what);
      range = param.value->range;
    }
    if (symbol.given) {
      value = symbol.value;
      range = symbol.givenAt;
    } else if (!param.value) {
      if (type->kind == Type::Kind::Optional)
        value = Value::null();
      else if (!reported.contains(&symbol) && type->kind != Type::Kind::Error)
        diags.report(symbol.range, diag::ParamWithoutValue{.name = symbol.name});
    }
    if (param.condition && !value.isPoison() && !(value.isNull() && type->kind == Type::Kind::Optional)) {
      Context context{bind(nullptr, "it", value), nullptr};
      bool holds = false;
      if (!truth(*param.condition, context, holds)) {
        value = Value::poison();
      } else if (!holds) {
        std::string found = show(value);
        auto report = diags.report(range, diag::ConditionFailed{.what = what, .value = found, .condition = compilation.sources.text(param.condition->range)});
        explainCondition(report, *param.condition, context);
        value = Value::poison();
      }
    }
    symbol.value = value;
  }
  frames.pop_back();
  symbol.state = State::Done;
  return symbol.value;
}

const Env *Analyzer::withLets(Object *object, ArrayRef<const ast::Stmt *> stmts, const Env *env, Object *self) {
  bool any = llvm::any_of(stmts, [](const ast::Stmt *stmt) {
    const ast::Stmt *inner = underAnnotations(stmt);
    return inner && inner->kind == ast::StmtKind::Let;
  });
  if (!any) return env;
  Object::Choice *memo = nullptr;
  if (object) {
    auto &made = object->choices[{stmts.data(), env}];
    if (!made) made = std::make_unique<Object::Choice>();
    if (made->env) return made->env;
    memo = made.get();
  }
  llvm::SmallVector<Thunk *, 4> thunks;
  const Env *inner = env;
  for (const ast::Stmt *stmt : stmts)
    if (const auto *let = ast::as<ast::Let>(underAnnotations(stmt))) {
      Thunk *thunk = arena.make<Thunk>(let, nullptr, self, State::New, Value());
      thunks.push_back(thunk);
      inner = arena.make<Env>(inner, let->name.text, Value(), thunk);
    }
  for (Thunk *thunk : thunks) thunk->env = inner; // lets of one block see one another
  if (memo) memo->env = inner;
  return inner;
}

// ---- blocks ----

Object::Choice &Analyzer::choose(Object &object, const ast::Stmt &stmt, const Env *env, Object *self) {
  auto &made = object.choices[{&stmt, env}];
  if (!made) made = std::make_unique<Object::Choice>();
  Object::Choice &choice = *made;
  if (choice.state == State::Done) return choice;
  if (choice.state == State::Active) {
    const ast::Expr *decides = stmt.kind == ast::StmtKind::If ? ast::as<ast::If>(&stmt)->condition : ast::as<ast::For>(&stmt)->binding.range;
    if (reported.insert(&stmt).second) diags.report(decides->range, diag::ConditionCycle{});
    object.lenient = object.failed = true;
    return choice;
  }
  choice.state = State::Active;
  // Evaluation may add to `choices` of this object; `choice` stays where it is.
  if (stmt.kind == ast::StmtKind::If) {
    for (const auto *node = ast::as<ast::If>(&stmt); node; node = ast::as<ast::If>(node->elseIf)) {
      bool holds = false;
      if (!truth(*node->condition, {env, self}, holds)) {
        object.lenient = object.failed = true;
        break;
      }
      if (holds) {
        choice.bodies.push_back({node->then, env});
        break;
      }
      if (node->otherwise) choice.bodies.push_back({node->otherwise, env});
    }
  } else {
    const auto &loop = *ast::as<ast::For>(&stmt);
    std::vector<const Env *> rounds;
    if (!iterate(loop.binding, {env, self}, rounds)) object.lenient = object.failed = true;
    for (const Env *round : rounds) choice.bodies.push_back({loop.block, round});
  }
  choice.state = State::Done;
  return choice;
}

void Analyzer::addContributions(Object &object, unsigned layerIndex, const Fragment &fragment, Object *self, const StringRef *wanted,
                                std::vector<Slot *> &slots, bool report) {
  const Env *env = fragment.skip ? fragment.env : withLets(&object, fragment.stmts, fragment.env, self);
  bool inherited = object.layers[layerIndex].inherited;

  auto add = [&](StringRef key, SourceRange keyRange, bool quoted, StringRef name, SourceRange nameRange, Contribution contribution) {
    if (inherited && name.empty() && (key == "name" || key == "installed")) return;
    Slot *slot = nullptr;
    if (wanted) {
      if (!slots.empty()) slot = slots[0];
    } else {
      auto found = object.index.find({key, name});
      if (found != object.index.end()) slot = found->second;
    }
    if (!slot) {
      slot = new (slots_.Allocate()) Slot();
      slot->key = key;
      slot->name = name;
      slot->keyRange = keyRange;
      slot->nameRange = nameRange;
      slot->quoted = quoted;
      slots.push_back(slot);
      if (!wanted) object.index[{key, name}] = slot;
    }
    using Kind = Contribution::Kind;
    for (Contribution &other : slot->contributions) {
      if (other.layer != layerIndex || contribution.kind == Kind::Append || other.kind == Kind::Append) {
        if (other.layer == layerIndex && contribution.kind == Kind::Set && other.kind == Kind::Append) {
          // `a += …` before `a = …` in one block: the second forgets the first.
        } else {
          continue;
        }
      } else if (contribution.kind == Kind::Merge && other.kind == Kind::Merge && (contribution.path || other.path)) {
        other.fragments.append(contribution.fragments.begin(), contribution.fragments.end());
        other.path = other.path && contribution.path;
        return;
      }
      if (report) {
        std::string shown = name.empty() ? key.str() : key.str() + " " + name.str();
        SourceRange at = name.empty() ? keyRange : join(keyRange, nameRange);
        auto message = diags.report(at, diag::DuplicateField{.field = shown});
        if (!(other.keyRange == keyRange)) message.note(other.keyRange, diag::FirstGivenHere{}); // else: two rounds of a `for`
        if (other.kind == Kind::Set && contribution.kind == Kind::Merge) message.note(diag::AmendWhereSet{.field = shown});
      }
      return;
    }
    contribution.keyRange = keyRange;
    contribution.layer = layerIndex;
    contribution.env = env;
    contribution.self = self;
    slot->contributions.push_back(std::move(contribution));
  };

  for (size_t i = 0; i < fragment.stmts.size(); ++i) {
    const ast::Stmt *stmt = fragment.stmts[i];
    StringRef allow = fragment.allow;
    while (const auto *annotation = ast::as<ast::Annotation>(stmt)) {
      if (annotation->name.text == "allow" && !annotation->args.empty())
        if (const auto *id = ast::as<ast::StringLiteral>(annotation->args[0].value); id && id->parts.size() == 1 && !id->parts[0].value)
          if (fragment.skip == 0) allow = allow.empty() ? id->parts[0].text : arena.save((allow + " " + id->parts[0].text).str());
      stmt = annotation->target;
    }
    if (!stmt) continue;
    const ast::Path *path = nullptr;
    Contribution contribution;
    contribution.allow = allow;
    switch (stmt->kind) {
    case ast::StmtKind::Field: {
      const auto &field = *ast::as<ast::Field>(stmt);
      path = &field.target;
      contribution.kind = field.append ? Contribution::Kind::Append : Contribution::Kind::Set;
      contribution.expr = field.value;
      contribution.range = field.value->range;
      break;
    }
    case ast::StmtKind::BlockField: {
      const auto &field = *ast::as<ast::BlockField>(stmt);
      path = &field.target;
      contribution.kind = Contribution::Kind::Merge;
      contribution.fragments.push_back({field.block->stmts, 0, env, allow});
      contribution.range = field.block->range;
      break;
    }
    case ast::StmtKind::Decl: {
      const auto &decl = *ast::as<ast::Decl>(stmt);
      if (wanted || decl.kindName.text.empty() || decl.kindName.text == "profile" || decl.kindName.text == "test") break;
      StringRef name = decl.name.text;
      if (decl.interpolatedName) {
        Value value = eval(*decl.interpolatedName, {env, self});
        if (!value.is(ValueKind::String)) {
          object.lenient = object.failed = true;
          break;
        }
        name = value.asString();
      }
      if (name.empty()) break;
      contribution.kind = Contribution::Kind::Merge;
      contribution.fragments.push_back({decl.block->stmts, 0, env, allow});
      contribution.range = decl.block->range;
      add(decl.kindName.text, decl.kindName.range, false, name, decl.name.range, std::move(contribution));
      break;
    }
    case ast::StmtKind::If:
    case ast::StmtKind::For: {
      if (wanted && !mayDefine(ArrayRef<const ast::Stmt *>(stmt), *wanted)) break;
      Object::Choice &choice = choose(object, *stmt, env, self);
      for (size_t round = 0; round < choice.bodies.size(); ++round) {
        auto [body, inner] = choice.bodies[round];
        addContributions(object, layerIndex, {body->stmts, 0, inner, allow}, self, wanted, slots, report);
      }
      break;
    }
    case ast::StmtKind::Assert:
      if (!wanted) object.asserts.push_back({ast::as<ast::Assert>(stmt), env, self});
      break;
    default: break;
    }
    if (!path || path->parts.size() <= fragment.skip) continue;
    const ast::Name &part = path->parts[fragment.skip];
    StringRef key = part.text;
    if (part.interpolated) {
      Value value = eval(*part.interpolated, {env, self});
      if (!value.is(ValueKind::String)) {
        object.lenient = object.failed = true;
        continue;
      }
      key = value.asString();
    }
    if (key.empty() && !part.quoted && !part.interpolated) continue; // reported by the parser
    if (wanted && key != *wanted) continue;
    if (fragment.skip + 1 < path->parts.size()) {
      contribution.kind = Contribution::Kind::Merge;
      contribution.fragments.clear();
      contribution.fragments.push_back({fragment.stmts.slice(i, 1), fragment.skip + 1, env, allow});
      contribution.path = true;
      contribution.range = stmt->range;
      contribution.expr = nullptr;
    }
    add(key, part.range, part.quoted || part.interpolated, {}, {}, std::move(contribution));
  }
}

// The contributions that all layers make to `wanted`, or to every field.
static void addGiven(Object &object, unsigned layer, const StringRef *wanted, std::vector<Slot *> &slots,
                     llvm::SpecificBumpPtrAllocator<Slot> &allocator) {
  bool inherited = object.layers[layer].inherited;
  for (const Entry &entry : object.layers[layer].value->entries) {
    if (wanted && (entry.key != *wanted || !entry.name.empty())) continue;
    if (inherited && entry.name.empty() && (entry.key == "name" || entry.key == "installed")) continue;
    Slot *slot = nullptr;
    if (wanted) {
      if (!slots.empty()) slot = slots[0];
    } else {
      auto found = object.index.find({entry.key, entry.name});
      if (found != object.index.end()) slot = found->second;
    }
    if (!slot) {
      slot = new (allocator.Allocate()) Slot();
      slot->key = entry.key;
      slot->name = entry.name;
      slot->keyRange = entry.keyRange;
      slot->nameRange = entry.nameRange;
      slot->quoted = entry.quoted;
      slots.push_back(slot);
      if (!wanted) object.index[{entry.key, entry.name}] = slot;
    }
    Contribution contribution;
    contribution.kind = Contribution::Kind::Given;
    contribution.given = &entry;
    contribution.layer = layer;
    contribution.keyRange = entry.keyRange;
    contribution.range = entry.range;
    contribution.allow = entry.allow;
    slot->contributions.push_back(std::move(contribution));
  }
}

void Analyzer::build(Object &object) {
  if (object.structure != State::New) return;
  object.structure = State::Active;
  std::vector<Slot *> slots;
  for (unsigned i = 0; i < object.layers.size(); ++i) {
    if (object.layers[i].value) {
      addGiven(object, i, nullptr, slots, slots_);
      continue;
    }
    Object *self = object.layers[i].self ? object.layers[i].self : &object;
    for (size_t f = 0; f < object.layers[i].fragments.size(); ++f) {
      Fragment fragment = object.layers[i].fragments[f];
      addContributions(object, i, fragment, self, nullptr, slots, true);
    }
  }
  // Fields that somebody asked for before all were known keep what was computed.
  for (Slot *early : object.early)
    for (Slot *&slot : slots)
      if (slot->key == early->key && slot->name == early->name) {
        early->quoted = slot->quoted;
        slot = early;
        object.index[{early->key, early->name}] = early;
      }
  object.slots = std::move(slots);
  object.structure = State::Done;
}

Slot *Analyzer::find(Object &object, StringRef key) {
  if (object.structure == State::Done) {
    auto found = object.index.find({key, StringRef()});
    return found == object.index.end() ? nullptr : found->second;
  }
  for (Slot *slot : object.early)
    if (slot->key == key) return slot;
  std::vector<Slot *> slots;
  for (unsigned i = 0; i < object.layers.size(); ++i) {
    if (object.layers[i].value) {
      addGiven(object, i, &key, slots, slots_);
      continue;
    }
    Object *self = object.layers[i].self ? object.layers[i].self : &object;
    for (size_t f = 0; f < object.layers[i].fragments.size(); ++f) {
      Fragment fragment = object.layers[i].fragments[f];
      addContributions(object, i, fragment, self, &key, slots, false);
    }
  }
  if (slots.empty()) return nullptr;
  // An evaluation on the way may have asked for the same field.
  for (Slot *slot : object.early)
    if (slot->key == key) return slot;
  object.early.push_back(slots[0]);
  return slots[0];
}

Layer Analyzer::layerOf(const Value &block, bool inherited) {
  Layer layer;
  layer.inherited = inherited;
  layer.value = &block.asBlock();
  layer.range = block.asBlock().range;
  return layer;
}

// A copy of `base` with one more layer on top. `base` is a block, evaluated or not, or a declaration.
Value Analyzer::amend(const Value &base, Layer layer, SourceRange at) {
  Object *object = makeObject();
  object->range = at;
  if (base.is(ValueKind::Ref)) {
    DeclInfo &decl = const_cast<DeclInfo &>(static_cast<const DeclInfo &>(base.asRef()));
    Object *of = objectOf(decl, at);
    if (!of || tooManyLayers(of->layers.size(), at)) return Value::poison();
    object->layers = of->layers;
    for (Layer &each : object->layers) each.inherited = true;
    object->from = &decl;
  } else if (base.is(ValueKind::Lazy)) {
    Object &of = base.asLazy();
    if (tooManyLayers(of.layers.size(), at)) return Value::poison();
    object->layers = of.layers;
    object->from = of.decl ? of.decl : of.from;
    object->parent = of.parent;
    object->label = of.label;
    object->lenient = of.lenient;
    if (of.decl)
      for (Layer &each : object->layers) each.inherited = true;
  } else if (base.is(ValueKind::Block)) {
    object->layers.push_back(layerOf(base, false));
    object->from = base.asBlock().from;
  }
  object->layers.push_back(std::move(layer));
  return Value::lazy(object);
}

Value Analyzer::appendTo(const Value &current, const Value &more, const Contribution &contribution) {
  if (current.isPoison() || more.isPoison()) return Value::poison();
  if (current.is(ValueKind::List) && more.is(ValueKind::List)) {
    ArrayRef<Item> a = current.asList(), b = more.asList();
    if (!spendElements(a.size() + b.size(), contribution.range)) return Value::poison();
    llvm::SmallVector<Item, 16> items(a.begin(), a.end());
    items.append(b.begin(), b.end());
    return Value::list(arena.copy<Item>(items));
  }
  if (blockLike(current) && blockLike(more)) {
    if (more.is(ValueKind::Block)) return amend(current, layerOf(more, false), contribution.range);
    Value result = current;
    Object &object = more.asLazy();
    for (const Layer &layer : object.layers) {
      Layer pinned = layer;
      if (!pinned.self) pinned.self = &object;
      result = amend(result, std::move(pinned), contribution.range);
    }
    return result;
  }
  if (current.is(ValueKind::Ref) && blockLike(more)) return amend(current, layerOf(deep(more), false), contribution.range);
  if (contribution.expr && !reported.insert(contribution.expr).second) return Value::poison();
  std::string to = describe(current), what = describe(more);
  auto report = diags.report(contribution.range, diag::CannotAppend{.what = what, .to = to});
  if (current.is(ValueKind::List) && contribution.range.valid()) {
    std::string list = "[" + compilation.sources.text(contribution.range).str() + "]";
    if (list.size() < 80 && !blockLike(more)) report.fixit(contribution.range, list, diag::WriteList{.text = list});
  }
  return Value::poison();
}

Value Analyzer::force(Object &object, Slot &slot, SourceRange at) {
  if (slot.state == State::Done) return slot.value;
  if (slot.state == State::Active) {
    if (reported.insert(&slot).second) reportCycle(&slot, at.valid() ? at : slot.keyRange);
    return Value::poison();
  }
  if (tooDeep(at)) return Value::poison();
  slot.state = State::Active;
  frames.push_back({&slot, slot.keyRange, Frame::Kind::Slot, &object});
  ++depth;
  using Kind = Contribution::Kind;
  auto &all = slot.contributions;
  // What an outer layer sets forgets the layers below it; they are not even evaluated.
  size_t start = 0;
  for (size_t i = all.size(); i-- > 0;)
    if (all[i].kind == Kind::Set || (all[i].kind == Kind::Given && !blockLike(all[i].given->value))) {
      start = i;
      break;
    }
  bool has = false, below = start > 0;
  Value current;
  SourceRange range;
  bool merges = false, appends = false, sets = false;
  StringRef allow;
  for (size_t i = start; i < all.size(); ++i) {
    Contribution &each = all[i];
    if (!each.allow.empty()) allow = allow.empty() ? each.allow : arena.save((allow + " " + each.allow).str());
    switch (each.kind) {
    case Kind::Set:
      current = eval(*each.expr, {each.env, each.self});
      sets = has = true;
      break;
    case Kind::Given:
      if (has && blockLike(current) && blockLike(each.given->value)) {
        current = amend(current, layerOf(each.given->value, false), each.range);
      } else {
        below |= has;
        current = each.given->value;
      }
      has = true;
      (each.given->how == Entry::How::Set ? sets : each.given->how == Entry::How::Merge ? merges : appends) = true;
      break;
    case Kind::Append: {
      Value more = eval(*each.expr, {each.env, each.self});
      if (!has || current.isNull()) {
        current = more;
        if (!more.isPoison() && !more.is(ValueKind::List) && !blockLike(more) && reported.insert(each.expr).second) {
          std::string what = describe(more);
          diags.report(each.range, diag::CannotAppend{.what = what, .to = "a list or a map"});
          current = Value::poison();
        }
      } else {
        current = appendTo(current, more, each);
      }
      has = appends = true;
      break;
    }
    case Kind::Merge: {
      Layer layer;
      layer.fragments = each.fragments;
      layer.self = each.self;
      layer.range = each.range;
      if (!has || current.isNull()) {
        Object *child = makeObject();
        child->layers.push_back(std::move(layer));
        current = Value::lazy(child);
      } else if (blockLike(current) || current.is(ValueKind::Ref)) {
        current = amend(current, std::move(layer), each.range);
      } else if (!current.isPoison()) {
        std::string found = describe(current);
        std::string shown = slot.key.str();
        diags.report(each.keyRange, diag::CannotMerge{.name = shown, .found = found}).note(range.valid() ? range : all[start].keyRange, diag::GivenHere{});
        current = Value::poison();
      }
      if (current.is(ValueKind::Lazy)) {
        Object &child = current.asLazy();
        child.range = each.range;
        child.parent = &object;
        child.label = slot.name.empty() ? slot.key : slot.name;
        child.lenient |= object.lenient;
      }
      has = merges = true;
      break;
    }
    }
    range = each.range;
  }
  if (current.is(ValueKind::Lazy) && !current.asLazy().parent && !current.asLazy().decl && current.asLazy().label.empty()) {
    current.asLazy().parent = &object;
    current.asLazy().label = slot.key;
  }
  slot.value = current;
  slot.range = range;
  slot.how = sets ? Entry::How::Set : merges ? Entry::How::Merge : appends ? Entry::How::Append : Entry::How::Set;
  slot.removes = current.isNull() && below;
  slot.allow = allow;
  slot.state = State::Done;
  --depth;
  frames.pop_back();
  return current;
}

Value Analyzer::materialize(Object &object, StringRef allow) {
  if (object.materializing == State::Done) return object.value;
  if (object.materializing == State::Active) {
    if (reported.insert(&object).second) reportCycle(&object, object.range);
    return Value::poison();
  }
  if (tooDeep(object.range)) return Value::poison();
  if (nesting >= MaxNesting) {
    diags.report(object.range, diag::ChainTooDeep{});
    stopped = true;
    return Value::poison();
  }
  object.materializing = State::Active;
  frames.push_back({&object, object.range, Frame::Kind::Object, nullptr});
  ++depth;
  ++nesting;
  build(object);
  llvm::SmallVector<Entry, 16> entries;
  entries.reserve(object.slots.size());
  for (size_t i = 0; i < object.slots.size(); ++i) {
    Slot &slot = *object.slots[i];
    Value value = force(object, slot, slot.keyRange);
    StringRef inherited = allow.empty() ? slot.allow : slot.allow.empty() ? allow : arena.save((allow + " " + slot.allow).str());
    Entry entry;
    entry.key = slot.key;
    entry.keyRange = slot.keyRange;
    // The key of the layer that gave the value is the one to point at.
    if (!slot.contributions.empty()) entry.keyRange = slot.contributions.back().keyRange;
    entry.value = deep(value, inherited);
    entry.range = slot.range;
    entry.quoted = slot.quoted;
    entry.name = slot.name;
    entry.nameRange = slot.nameRange;
    entry.how = slot.how;
    entry.removes = slot.removes;
    entry.allow = inherited;
    entries.push_back(entry);
  }
  if (!object.lenient && !stopped) {
    for (size_t i = 0; i < object.asserts.size(); ++i) {
      Object::Assertion assertion = object.asserts[i];
      checkAssert(*assertion.stmt, {assertion.env, assertion.self});
    }
  }
  --nesting;
  --depth;
  frames.pop_back();
  spendElements(entries.size(), object.range);
  BlockValue *block = arena.make<BlockValue>();
  block->entries = arena.copy<Entry>(entries);
  block->range = object.range;
  block->from = object.from;
  object.value = object.failed || stopped || tooHeavy(Value::block(block), object.range) ? Value::poison() : Value::block(block);
  object.materializing = State::Done;
  return object.value;
}

// How many elements a value has when what stands in it twice is counted twice: a few lines of text can name one list 2^60
// times. Whoever walks a value relies on this being bounded.
uint64_t Analyzer::weightOf(const Value &value, unsigned level) {
  const void *key = nullptr;
  if (value.is(ValueKind::List) && !value.asList().empty()) key = value.asList().data();
  else if (value.is(ValueKind::Block)) key = &value.asBlock();
  if (!key) return 1;
  auto known = weights.find(key);
  if (known != weights.end()) return known->second;
  if (level > MaxNesting) return UINT32_MAX;
  uint64_t weight = 1;
  if (value.is(ValueKind::List))
    for (const Item &item : value.asList()) weight = std::min<uint64_t>(weight + weightOf(item.value, level + 1), UINT32_MAX);
  else
    for (const Entry &entry : value.asBlock().entries) weight = std::min<uint64_t>(weight + weightOf(entry.value, level + 1), UINT32_MAX);
  weights[key] = weight;
  return weight;
}

bool Analyzer::tooHeavy(const Value &value, SourceRange at) {
  constexpr uint64_t most = 10'000'000;
  if (weightOf(value) <= most) return false;
  if (!stopped) diags.report(at, diag::TooManyElements{});
  return stopped = true;
}

bool Analyzer::tooManyLayers(size_t count, SourceRange at) {
  constexpr size_t most = 1000;
  if (count < most) return false;
  if (!stopped) diags.report(at, diag::ChainTooDeep{});
  return stopped = true;
}

Value Analyzer::deep(const Value &value, StringRef allow) {
  if (value.is(ValueKind::Lazy)) return materialize(value.asLazy(), allow);
  if (!value.is(ValueKind::List) || value.asList().empty()) return value;
  ArrayRef<Item> items = value.asList();
  if (auto known = deepLists.find({items.data(), items.size()}); known != deepLists.end()) return known->second;
  bool flat = llvm::none_of(items, [](const Item &item) { return item.value.is(ValueKind::Lazy) || item.value.is(ValueKind::List); });
  if (flat) return value;
  if (nesting >= MaxNesting) {
    if (!stopped) diags.report(items[0].range, diag::ChainTooDeep{});
    stopped = true;
    return Value::poison();
  }
  ++nesting;
  llvm::SmallVector<Item, 16> copies;
  copies.reserve(items.size());
  bool changed = false;
  for (const Item &item : items) {
    Value inner = deep(item.value, allow);
    changed |= item.value.is(ValueKind::Lazy) || (inner.is(ValueKind::List) && inner.asList().data() != item.value.asList().data()) || inner.isPoison();
    copies.push_back({inner, item.range});
  }
  --nesting;
  Value result = changed ? Value::list(arena.copy<Item>(copies)) : value;
  if (stopped || tooHeavy(result, items[0].range)) return Value::poison();
  deepLists[{items.data(), items.size()}] = result;
  return result;
}

// ---- declarations ----

Object *Analyzer::objectOf(DeclInfo &decl, SourceRange at) {
  if (decl.object) return decl.object;
  if (decl.baseState == State::Active) {
    if (reported.insert(&decl).second) {
      std::string cycle;
      bool on = false;
      for (const Frame &frame : frames) {
        on |= frame.what == &decl;
        if (on && frame.kind == Frame::Kind::Base) cycle += "`" + frameName(frame) + "` → ";
      }
      cycle += "`" + decl.kind.str() + "." + decl.name.str() + "`";
      diags.report(decl.syntax->base ? decl.syntax->base->range : at, diag::ExtendsCycle{.cycle = cycle});
    }
    return nullptr;
  }
  if (tooDeep(at)) return nullptr;
  decl.baseState = State::Active;
  Object *object = makeObject();
  object->decl = &decl;
  object->range = decl.range;
  object->lenient = decl.isAbstract;
  if (const ast::Path *path = decl.syntax->base) {
    auto bound = baseBindings.find(path);
    bool ambiguous = false;
    DeclInfo *base = bound == baseBindings.end() ? nullptr : findDecl(bound->second, ambiguous);
    if (base && base->kind != decl.kind) {
      std::string full = base->kind.str() + "." + base->name.str();
      if (reported.insert(path).second) diags.report(path->range, diag::ExtendsOtherKind{.kind = decl.kind, .base = full});
      base = nullptr;
    }
    frames.push_back({&decl, decl.nameRange, Frame::Kind::Base, nullptr});
    ++depth;
    Object *below = base ? objectOf(*base, path->range) : nullptr;
    --depth;
    frames.pop_back();
    if (below && tooManyLayers(below->layers.size(), path->range)) below = nullptr;
    if (below) {
      decl.base = base;
      // What a profile says about all of a kind goes on top of this one's own text, not below it with the base's.
      auto comesLater = [&](const Layer &layer) {
        return llvm::any_of(*decl.amendments, [&](const Layer &own) {
          return !layer.fragments.empty() && own.fragments[0].stmts.data() == layer.fragments[0].stmts.data();
        });
      };
      for (const Layer &layer : below->layers) {
        if (comesLater(layer)) continue;
        object->layers.push_back(layer);
        object->layers.back().inherited = true;
      }
      decl.broken |= base->broken;
    } else {
      decl.broken = true;
    }
    object->lenient |= decl.broken;
  }
  Layer own;
  own.fragments.push_back({decl.syntax->block->stmts, 0, decl.env, decl.allow});
  own.range = decl.syntax->block->range;
  object->layers.push_back(std::move(own));
  for (const Layer &amendment : *decl.amendments) object->layers.push_back(amendment);
  decl.object = object;
  decl.baseState = State::Done;
  return object;
}

// A field nobody gave has the value that the schema says it has, when that is a plain literal; else it is null.
static Value schemaDefault(StringRef kind, StringRef name, bool &known) {
  known = false;
  const schema::Block *block = schema::find(kind);
  const schema::Field *field = block ? block->find(name) : nullptr;
  if (!field) return Value::null();
  known = true;
  StringRef text = field->defaultText;
  int64_t integer;
  double number;
  if (text == "true" || text == "false") return Value::boolean(text == "true");
  if (text.size() >= 2 && text.startswith("\"") && text.endswith("\"") && !text.contains('\\')) return Value::string(text.drop_front().drop_back());
  if (!text.empty() && !text.getAsInteger(10, integer)) return Value::integer(integer);
  if (!text.empty() && !text.getAsDouble(number)) return Value::number(number);
  return Value::null();
}

Value Analyzer::member(const Value &object, StringRef name, SourceRange nameRange, SourceRange objectRange, bool) {
  if (object.isPoison() || name.empty()) return Value::poison();
  llvm::SmallVector<StringRef, 32> candidates;
  std::string owner;
  const Decl *typed = nullptr;
  switch (object.kind()) {
  case ValueKind::Ref: {
    DeclInfo &decl = const_cast<DeclInfo &>(static_cast<const DeclInfo &>(object.asRef()));
    Object *of = objectOf(decl, nameRange);
    if (!of) return Value::poison();
    return member(Value::lazy(of), name, nameRange, objectRange, false);
  }
  case ValueKind::Lazy: {
    Object &of = object.asLazy();
    if (Slot *slot = find(of, name)) return force(of, *slot, nameRange);
    if (of.lenient || stopped) return Value::poison();
    typed = of.decl ? of.decl : of.from;
    if (typed) {
      bool known = false;
      Value value = schemaDefault(typed->kind, name, known);
      if (known) return value;
      if (const schema::Block *block = schema::find(typed->kind))
        for (const schema::Field &field : block->fields) candidates.push_back(field.name);
    }
    build(of);
    if (of.structure == State::Done) {
      // `self.group.node`: the named entries under one word, as a block.
      llvm::SmallVector<Entry, 4> named;
      for (size_t i = 0; i < of.slots.size(); ++i) {
        Slot &slot = *of.slots[i];
        if (slot.key != name || slot.name.empty()) {
          candidates.push_back(slot.key);
          continue;
        }
        Entry entry;
        entry.key = slot.name;
        entry.keyRange = slot.nameRange;
        entry.value = deep(force(of, slot, nameRange));
        entry.range = slot.range;
        named.push_back(entry);
      }
      if (!named.empty()) {
        BlockValue *block = arena.make<BlockValue>();
        block->entries = arena.copy<Entry>(named);
        block->range = of.range;
        return Value::block(block);
      }
      if (of.lenient) return Value::poison();
    }
    break;
  }
  case ValueKind::Block: {
    const BlockValue &block = object.asBlock();
    if (const Entry *entry = block.find(name)) return entry->value;
    typed = block.from;
    if (typed) {
      bool known = false;
      Value value = schemaDefault(typed->kind, name, known);
      if (known) return value;
    }
    for (const Entry &entry : block.entries) candidates.push_back(entry.key);
    break;
  }
  case ValueKind::Null: {
    StringRef text = objectRange.valid() ? compilation.sources.text(objectRange) : StringRef("it");
    std::string shown = text.size() < 60 ? text.str() : "it";
    diags.report(nameRange, diag::FieldOfNull{.object = shown, .name = name});
    return Value::poison();
  }
  default: {
    if (object.is(ValueKind::Source) && object.asSource().kind == Source::Kind::Secret) {
      diags.report(nameRange, diag::SecretUsed{.use = "read"});
      return Value::poison();
    }
    std::string found = describe(object);
    diags.report(nameRange, diag::NoFields{.name = name, .found = found});
    return Value::poison();
  }
  }
  auto report = diags.report(nameRange, diag::AbsentKey{.key = name});
  StringRef near = nearestName(name, candidates);
  if (!near.empty())
    report.fixit(nameRange, near, diag::DidYouMean{.name = near});
  else
    report.note(diag::UseGet{});
  return Value::poison();
}

// ---- conditions ----

bool Analyzer::truth(const ast::Expr &condition, Context context, bool &result) {
  Value value = eval(condition, context);
  if (value.isPoison()) return false;
  if (!value.is(ValueKind::Bool)) {
    std::string found = describe(value);
    if (reported.insert(&condition).second) diags.report(condition.range, diag::ConditionNotBool{.found = found});
    return false;
  }
  result = value.asBool();
  return true;
}

namespace {
// The parts of a condition whose values explain it, outer ones first.
void partsOf(const ast::Expr &expr, bool whole, llvm::SmallVectorImpl<const ast::Expr *> &parts, int level) {
  if (parts.size() >= 24 || level > 20) return;
  switch (expr.kind) {
  case ast::ExprKind::NameRef:
  case ast::ExprKind::Self: parts.push_back(&expr); break;
  case ast::ExprKind::Paren: partsOf(*ast::as<ast::Paren>(&expr)->inner, whole, parts, level + 1); break;
  case ast::ExprKind::Unary:
    if (!whole) parts.push_back(&expr);
    partsOf(*ast::as<ast::Unary>(&expr)->operand, whole && ast::as<ast::Unary>(&expr)->op == ast::UnaryOp::Not, parts, level + 1);
    break;
  case ast::ExprKind::Binary: {
    const auto &node = *ast::as<ast::Binary>(&expr);
    if (node.op == Op::Range) {
      partsOf(*node.left, false, parts, level + 1);
      partsOf(*node.right, false, parts, level + 1);
      break;
    }
    if (!whole) parts.push_back(&expr);
    partsOf(*node.left, false, parts, level + 1);
    partsOf(*node.right, false, parts, level + 1);
    break;
  }
  case ast::ExprKind::Member: parts.push_back(&expr); break;
  case ast::ExprKind::Index:
    parts.push_back(&expr);
    partsOf(*ast::as<ast::Index>(&expr)->index, false, parts, level + 1);
    break;
  case ast::ExprKind::Call:
    if (!whole) parts.push_back(&expr);
    for (const ast::Argument &arg : ast::as<ast::Call>(&expr)->args) partsOf(*arg.value, false, parts, level + 1);
    break;
  case ast::ExprKind::IfExpr:
    partsOf(*ast::as<ast::IfExpr>(&expr)->condition, false, parts, level + 1);
    break;
  case ast::ExprKind::StringLiteral:
    for (const ast::StringPart &part : ast::as<ast::StringLiteral>(&expr)->parts)
      if (part.value) partsOf(*part.value, false, parts, level + 1);
    break;
  default: break;
  }
}
} // namespace

void Analyzer::explainCondition(Diagnostics::Builder &report, const ast::Expr &condition, Context context) {
  llvm::SmallVector<const ast::Expr *, 8> parts;
  partsOf(condition, true, parts, 0);
  llvm::DenseSet<StringRef> seen;
  for (const ast::Expr *part : parts) {
    StringRef text = compilation.sources.text(part->range);
    if (!seen.insert(text).second || seen.size() > 8) continue;
    auto known = bindings.find(part);
    if (known != bindings.end() && known->second.kind != Binding::Kind::Local && known->second.kind != Binding::Kind::Symbol &&
        known->second.kind != Binding::Kind::Decl && known->second.kind != Binding::Kind::Member)
      continue;
    Value value;
    bool wasStopped = stopped;
    // Parts behind `and`, `or` may fail where the whole did not.
    llvm::DenseSet<const void *> before;
    quietly([&] {
      before = reported;
      value = deep(eval(*part, context));
      reported = std::move(before);
    });
    stopped = wasStopped;
    if (value.isPoison()) continue;
    std::string shown = show(value);
    report.note(part->range, diag::PartIs{.part = text.size() > 60 ? text.take_front(57) : text, .value = shown});
  }
}

bool Analyzer::checkAssert(const ast::Assert &assertion, Context context) {
  bool holds = false;
  if (!truth(*assertion.condition, context, holds)) return false;
  if (holds) return true;
  std::string message = "`" + compilation.sources.text(assertion.condition->range).str() + "` does not hold";
  if (assertion.message) {
    Value text = eval(*assertion.message, context);
    if (text.is(ValueKind::String)) message = text.asString().str();
  }
  auto report = diags.report(assertion.condition->range, diag::AssertFailed{.text = message});
  explainCondition(report, *assertion.condition, context);
  return false;
}

bool Analyzer::iterate(const ast::Binding &binding, Context context, std::vector<const Env *> &rounds) {
  Value range = eval(*binding.range, context);
  if (range.isPoison()) return false;
  bool pair = !binding.second.text.empty();
  auto round = [&](const Value &index, const Value &item) {
    const Env *env = context.env;
    if (pair) env = bind(env, binding.first.text, index);
    rounds.push_back(bind(env, pair ? binding.second.text : binding.first.text, item));
  };
  if (range.is(ValueKind::List)) {
    ArrayRef<Item> items = range.asList();
    rounds.reserve(items.size());
    for (size_t i = 0; i < items.size(); ++i) round(Value::integer(static_cast<int64_t>(i)), items[i].value);
    return true;
  }
  if (blockLike(range)) {
    Value block = deep(range);
    if (block.isPoison()) return false;
    for (const Entry &entry : block.asBlock().entries)
      if (!entry.value.isNull()) round(Value::string(entry.name.empty() ? entry.key : entry.name), entry.value);
    return true;
  }
  if (reported.insert(binding.range).second) {
    std::string found = describe(range);
    auto report = diags.report(binding.range->range, diag::NotIterable{.found = found});
    if (range.is(ValueKind::Int)) report.note(diag::IterateRange{});
  }
  return false;
}

// ---- text ----

bool Analyzer::text(const Value &value, std::string &out) {
  switch (value.kind()) {
  case ValueKind::String: out += value.asString(); return true;
  case ValueKind::Int: out += std::to_string(value.asInt()); return true;
  case ValueKind::Float: out += floatText(value.asFloat()); return true;
  case ValueKind::Bool: out += value.asBool() ? "true" : "false"; return true;
  case ValueKind::Amount: out += value.asAmount().str(); return true;
  case ValueKind::Duration: out += durationText(value.asMilliseconds()); return true;
  default: return false;
  }
}

Value Analyzer::evalString(const ast::StringLiteral &literal, Context context) {
  ArrayRef<ast::StringPart> parts = literal.parts;
  if (parts.empty()) return Value::string(StringRef("", 0));
  if (parts.size() == 1 && !parts[0].value) return Value::string(parts[0].text);
  std::string result;
  bool bad = false;
  for (const ast::StringPart &part : parts) {
    if (!part.value) {
      result += part.text;
      continue;
    }
    Value value = eval(*part.value, context);
    if (value.isPoison()) {
      bad = true;
    } else if (!text(value, result)) {
      bad = true;
      if (!reported.insert(part.value).second) continue;
      if (value.is(ValueKind::Source)) {
        diags.report(part.value->range, diag::SecretUsed{.use = "printed"});
      } else {
        std::string found = describe(value);
        auto report = diags.report(part.value->range, diag::NotPrintable{.found = found});
        if (value.isNull())
          report.note(diag::UseCoalesce{});
        else
          report.note(diag::UseJson{});
      }
    }
  }
  if (bad || !spendElements(result.size(), literal.range)) return Value::poison();
  return Value::string(arena.save(result));
}

// ---- operators ----

int Analyzer::compareValues(const Value &left, const Value &right, bool &comparable) {
  comparable = true;
  auto order = [](auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; };
  if (left.is(ValueKind::Int) && right.is(ValueKind::Int)) return order(left.asInt(), right.asInt());
  if (numeric(left) && numeric(right)) return order(left.asFloat(), right.asFloat());
  if (left.is(ValueKind::String) && right.is(ValueKind::String)) return left.asString().compare(right.asString());
  if (left.is(ValueKind::Duration) && right.is(ValueKind::Duration)) return order(left.asMilliseconds(), right.asMilliseconds());
  auto nano = [](const Value &value, __int128 &out) {
    if (value.is(ValueKind::Amount)) {
      out = value.asAmount().nano;
      return true;
    }
    if (value.is(ValueKind::Int)) {
      out = static_cast<__int128>(value.asInt()) * 1'000'000'000;
      return true;
    }
    return false;
  };
  __int128 a, b;
  if ((left.is(ValueKind::Amount) || right.is(ValueKind::Amount)) && nano(left, a) && nano(right, b)) return order(a, b);
  if ((left.is(ValueKind::Amount) && right.is(ValueKind::Float)) || (left.is(ValueKind::Float) && right.is(ValueKind::Amount))) {
    auto number = [](const Value &value) { return value.is(ValueKind::Amount) ? static_cast<double>(value.asAmount().nano) / 1e9 : value.asFloat(); };
    return order(number(left), number(right));
  }
  comparable = false;
  return 0;
}

bool Analyzer::equal(const Value &a, const Value &b, SourceRange at, bool &failed, int level) {
  if (a.isPoison() || b.isPoison() || level > static_cast<int>(MaxNesting)) {
    failed = true;
    return false;
  }
  if (a.isNull() || b.isNull()) return a.isNull() && b.isNull();
  auto refuse = [&] {
    failed = true;
    if (a.is(ValueKind::Source) || b.is(ValueKind::Source)) {
      diags.report(at, diag::SecretUsed{.use = "compared"});
    } else {
      std::string left = describe(a), right = describe(b);
      diags.report(at, diag::DifferentTypes{.left = left, .right = right});
    }
    return false;
  };
  if (a.is(ValueKind::Bool) && b.is(ValueKind::Bool)) return a.asBool() == b.asBool();
  if (a.is(ValueKind::Ref) && b.is(ValueKind::Ref)) return &a.asRef() == &b.asRef();
  if (a.is(ValueKind::List) && b.is(ValueKind::List)) {
    ArrayRef<Item> x = a.asList(), y = b.asList();
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i)
      if (!step(at)) {
        failed = true;
        return false;
      } else if (!equal(x[i].value, y[i].value, at, failed, level + 1)) return false;
    return true;
  }
  if (blockLike(a) && blockLike(b)) {
    Value x = deep(a), y = deep(b);
    if (x.isPoison() || y.isPoison()) {
      failed = true;
      return false;
    }
    const BlockValue &l = x.asBlock(), &r = y.asBlock();
    if (l.entries.size() != r.entries.size()) return false;
    llvm::DenseMap<std::pair<StringRef, StringRef>, const Entry *> index;
    for (const Entry &entry : r.entries) index[{entry.key, entry.name}] = &entry;
    for (const Entry &entry : l.entries) {
      auto other = index.find({entry.key, entry.name});
      if (other == index.end() || !equal(entry.value, other->second->value, at, failed, level + 1)) return false;
    }
    return true;
  }
  bool comparable = false;
  int order = compareValues(a, b, comparable);
  return comparable ? order == 0 : refuse();
}

Value Analyzer::operandError(const ast::Binary &expr, const Value &left, const Value &right) {
  if (!reported.insert(&expr).second) return Value::poison();
  if (left.is(ValueKind::Source) || right.is(ValueKind::Source)) {
    diags.report(expr.opRange, diag::SecretUsed{.use = "computed with"});
    return Value::poison();
  }
  std::string l = describe(left), r = describe(right);
  auto report = diags.report(expr.opRange, diag::WrongOperands{.op = OpText[static_cast<int>(expr.op)], .left = l, .right = r});
  if (expr.op == Op::Add && (left.is(ValueKind::String) || right.is(ValueKind::String))) report.note(diag::Interpolate{});
  if (expr.op == Op::Add && blockLike(left) && blockLike(right)) report.note(diag::UseMerge{});
  if (left.isNull() || right.isNull()) report.note(diag::UseCoalesce{});
  return Value::poison();
}

Value Analyzer::arithmetic(ast::BinaryOp op, const ast::Binary &expr, const Value &left, const Value &right) {
  auto fail = [&](auto row) {
    if (reported.insert(&expr).second) diags.report(expr.range, row);
    return Value::poison();
  };
  auto overflow = [&] {
    std::string l = show(left), r = show(right);
    return fail(diag::Overflow{.left = l, .op = OpText[static_cast<int>(op)], .right = r});
  };
  auto divided = [&] {
    if (reported.insert(&expr).second) diags.report(expr.right->range, diag::DivisionByZero{});
    return Value::poison();
  };
  if (left.is(ValueKind::Int) && right.is(ValueKind::Int) && op != Op::Div) {
    int64_t a = left.asInt(), b = right.asInt(), result;
    switch (op) {
    case Op::Add: return __builtin_add_overflow(a, b, &result) ? overflow() : Value::integer(result);
    case Op::Sub: return __builtin_sub_overflow(a, b, &result) ? overflow() : Value::integer(result);
    case Op::Mul: return __builtin_mul_overflow(a, b, &result) ? overflow() : Value::integer(result);
    case Op::Mod:
      if (b == 0) return divided();
      if (b == -1) return Value::integer(0);
      result = a % b;
      // As Python has it: the sign of the divisor.
      if (result != 0 && (result < 0) != (b < 0)) result += b;
      return Value::integer(result);
    default: break;
    }
  }
  if (numeric(left) && numeric(right)) {
    double a = left.asFloat(), b = right.asFloat(), result = 0;
    switch (op) {
    case Op::Add: result = a + b; break;
    case Op::Sub: result = a - b; break;
    case Op::Mul: result = a * b; break;
    case Op::Div:
      if (b == 0) return divided();
      result = a / b;
      break;
    case Op::Mod:
      if (b == 0) return divided();
      result = std::fmod(a, b);
      if (result != 0 && (result < 0) != (b < 0)) result += b;
      break;
    default: break;
    }
    if (!std::isfinite(result)) return overflow();
    return Value::number(result);
  }
  if (op == Op::Add && left.is(ValueKind::String) && right.is(ValueKind::String)) {
    if (!spendElements(left.asString().size() + right.asString().size(), expr.range)) return Value::poison();
    return Value::string(arena.save((left.asString() + right.asString()).str()));
  }
  if (op == Op::Add && left.is(ValueKind::List) && right.is(ValueKind::List)) {
    if (!spendElements(left.asList().size() + right.asList().size(), expr.range)) return Value::poison();
    llvm::SmallVector<Item, 16> items(left.asList().begin(), left.asList().end());
    items.append(right.asList().begin(), right.asList().end());
    return Value::list(arena.copy<Item>(items));
  }
  auto amount = [&](__int128 nano, Amount::Format format) {
    if (nano > MaxNano || nano < -MaxNano) return overflow();
    Amount *result = arena.make<Amount>();
    result->nano = nano;
    result->format = format;
    return Value::amount(result);
  };
  auto inexact = [&] {
    std::string text = show(left) + " " + OpText[static_cast<int>(op)] + " " + show(right);
    return fail(diag::InexactAmount{.value = text});
  };
  if (left.is(ValueKind::Amount) || right.is(ValueKind::Amount)) {
    bool both = left.is(ValueKind::Amount) && right.is(ValueKind::Amount);
    if (both && (op == Op::Add || op == Op::Sub)) {
      // Like apimachinery: the form of the left one, unless it is zero.
      Amount::Format format = left.asAmount().nano == 0 ? right.asAmount().format : left.asAmount().format;
      return amount(op == Op::Add ? left.asAmount().nano + right.asAmount().nano : left.asAmount().nano - right.asAmount().nano, format);
    }
    if (both && op == Op::Div) {
      if (right.asAmount().nano == 0) return divided();
      // Exact where the quotient is whole, however large the amounts.
      __int128 a = left.asAmount().nano, b = right.asAmount().nano;
      __int128 common = gcd(a, b);
      return Value::number(static_cast<double>(a / common) / static_cast<double>(b / common));
    }
    if (!both && op == Op::Mul && (numeric(left) || numeric(right))) {
      const Value &base = left.is(ValueKind::Amount) ? left : right, &factor = left.is(ValueKind::Amount) ? right : left;
      std::optional<__int128> nano = scale(base.asAmount().nano, factor, false);
      return nano ? amount(*nano, base.asAmount().format) : inexact();
    }
    if (!both && op == Op::Div && left.is(ValueKind::Amount) && numeric(right)) {
      if (right.asFloat() == 0) return divided();
      std::optional<__int128> nano = scale(left.asAmount().nano, right, true);
      return nano ? amount(*nano, left.asAmount().format) : inexact();
    }
    return operandError(expr, left, right);
  }
  if (left.is(ValueKind::Duration) || right.is(ValueKind::Duration)) {
    bool both = left.is(ValueKind::Duration) && right.is(ValueKind::Duration);
    int64_t result;
    if (both && op == Op::Add) return __builtin_add_overflow(left.asMilliseconds(), right.asMilliseconds(), &result) ? overflow() : Value::duration(result);
    if (both && op == Op::Sub) return __builtin_sub_overflow(left.asMilliseconds(), right.asMilliseconds(), &result) ? overflow() : Value::duration(result);
    if (both && op == Op::Div) {
      if (right.asMilliseconds() == 0) return divided();
      return Value::number(static_cast<double>(left.asMilliseconds()) / static_cast<double>(right.asMilliseconds()));
    }
    if (!both && (op == Op::Mul || (op == Op::Div && left.is(ValueKind::Duration))) && (numeric(left) || numeric(right))) {
      const Value &base = left.is(ValueKind::Duration) ? left : right, &factor = left.is(ValueKind::Duration) ? right : left;
      if (op == Op::Div && factor.asFloat() == 0) return divided();
      std::optional<__int128> scaled = scale(base.asMilliseconds(), factor, op == Op::Div);
      if (!scaled) {
        std::string text = show(left) + " " + OpText[static_cast<int>(op)] + " " + show(right);
        return fail(diag::InexactDuration{.value = text});
      }
      if (*scaled > INT64_MAX || *scaled < INT64_MIN) return overflow();
      return Value::duration(static_cast<int64_t>(*scaled));
    }
  }
  return operandError(expr, left, right);
}

Value Analyzer::binary(const ast::Binary &root, Context context) {
  // A sum of ten thousand parts is a tree ten thousand deep, to the left.
  llvm::SmallVector<const ast::Binary *, 8> spine;
  const ast::Expr *leftmost = &root;
  while (const auto *node = ast::as<ast::Binary>(leftmost)) {
    spine.push_back(node);
    leftmost = node->left;
  }
  Value left = eval(*leftmost, context);
  while (!spine.empty()) {
    const ast::Binary &expr = *spine.pop_back_val();
    if (reported.contains(&expr) || !step(expr.range)) {
      left = Value::poison();
      continue;
    }
    switch (expr.op) {
    case Op::Or:
    case Op::And: {
      if (left.isPoison()) continue;
      if (!left.is(ValueKind::Bool)) {
        std::string found = describe(left);
        if (reported.insert(&expr).second) diags.report(expr.left->range, diag::ConditionNotBool{.found = found});
        left = Value::poison();
        continue;
      }
      if (left.asBool() == (expr.op == Op::Or)) continue;
      Value right = eval(*expr.right, context);
      if (!right.isPoison() && !right.is(ValueKind::Bool)) {
        std::string found = describe(right);
        if (reported.insert(&expr).second) diags.report(expr.right->range, diag::ConditionNotBool{.found = found});
        right = Value::poison();
      }
      left = right;
      continue;
    }
    case Op::Coalesce:
      if (left.isNull()) left = eval(*expr.right, context);
      continue;
    case Op::In:
    case Op::NotIn: {
      if (left.isPoison()) continue;
      bool found = false, failed = false;
      const auto *range = ast::as<ast::Binary>(expr.right);
      if (range && range->op == Op::Range && left.is(ValueKind::Int)) {
        // No list is made of `1..1_000_000_000`.
        Value low = eval(*range->left, context), high = eval(*range->right, context);
        if (low.isPoison() || high.isPoison()) {
          left = Value::poison();
          continue;
        }
        if (!low.is(ValueKind::Int) || !high.is(ValueKind::Int)) {
          left = operandError(*range, low, high);
          continue;
        }
        found = left.asInt() >= low.asInt() && left.asInt() <= high.asInt();
      } else {
        if (range && range->op == Op::Range && left.is(ValueKind::Float)) {
          if (reported.insert(&expr).second) diags.report(range->range, diag::FloatInRange{});
          left = Value::poison();
          continue;
        }
        Value right = eval(*expr.right, context);
        if (right.isPoison()) {
          left = right;
          continue;
        }
        if (right.is(ValueKind::List)) {
          for (const Item &item : right.asList()) {
            if (!step(expr.range)) failed = true;
            if (failed) break;
            if (equal(left, item.value, expr.opRange, failed)) {
              found = true;
              break;
            }
          }
          if (failed) reported.insert(&expr);
        } else if (right.is(ValueKind::String) && left.is(ValueKind::String)) {
          found = right.asString().contains(left.asString());
        } else if (blockLike(right) && left.is(ValueKind::String)) {
          Value block = deep(right);
          if (block.isPoison()) failed = true;
          else found = llvm::any_of(block.asBlock().entries, [&](const Entry &entry) { return !entry.value.isNull() && (entry.name.empty() ? entry.key : entry.name) == left.asString(); });
        } else {
          left = operandError(expr, left, right);
          continue;
        }
      }
      left = failed ? Value::poison() : Value::boolean(found == (expr.op == Op::In));
      continue;
    }
    default: break;
    }
    Value right = eval(*expr.right, context);
    if (left.isPoison() || right.isPoison()) {
      left = Value::poison();
      continue;
    }
    switch (expr.op) {
    case Op::Eq:
    case Op::Ne: {
      bool failed = false;
      bool same = equal(left, right, expr.opRange, failed);
      if (failed) {
        reported.insert(&expr);
        left = Value::poison();
      } else {
        left = Value::boolean(same == (expr.op == Op::Eq));
      }
      continue;
    }
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge: {
      bool comparable = false;
      int order = compareValues(left, right, comparable);
      if (!comparable) {
        left = operandError(expr, left, right);
        continue;
      }
      left = Value::boolean(expr.op == Op::Lt ? order < 0 : expr.op == Op::Le ? order <= 0 : expr.op == Op::Gt ? order > 0 : order >= 0);
      continue;
    }
    case Op::Range: {
      if (!left.is(ValueKind::Int) || !right.is(ValueKind::Int)) {
        left = operandError(expr, left, right);
        continue;
      }
      int64_t low = left.asInt(), high = right.asInt();
      uint64_t count = high < low ? 0 : static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
      if (high >= low && count == 0) count = UINT64_MAX; // all of 64 bits
      if (!spendElements(count, expr.range)) {
        left = Value::poison();
        continue;
      }
      std::vector<Item> items;
      items.reserve(count);
      for (uint64_t i = 0; i < count; ++i) items.push_back({Value::integer(low + static_cast<int64_t>(i)), expr.range});
      left = Value::list(arena.copy<Item>(items));
      continue;
    }
    default: left = arithmetic(expr.op, expr, left, right); continue;
    }
  }
  return left;
}

// ---- everything else ----

Value Analyzer::evalComprehension(const ast::Comprehension &node, Context context) {
  llvm::SmallVector<Item, 16> items;
  bool bad = false;
  // One binding inside another; their number is bounded by the text.
  auto run = [&](auto &self, size_t index, Context at) -> void {
    if (index == node.bindings.size()) {
      if (node.condition) {
        bool holds = false;
        if (!truth(*node.condition, at, holds)) {
          bad = true;
          return;
        }
        if (!holds) return;
      }
      Value value = eval(*node.item, at);
      bad |= value.isPoison();
      if (!spendElements(1, node.range)) {
        bad = true;
        return;
      }
      items.push_back({value, node.item->range});
      return;
    }
    std::vector<const Env *> rounds;
    if (!iterate(node.bindings[index], at, rounds)) {
      bad = true;
      return;
    }
    for (const Env *env : rounds) {
      if (stopped || !step(node.range)) {
        bad = true;
        return;
      }
      self(self, index + 1, Context{env, at.self});
    }
  };
  run(run, 0, context);
  if (bad) return Value::poison();
  return Value::list(arena.copy<Item>(items));
}

Value Analyzer::evalIndex(const ast::Index &node, Context context) {
  Value object = eval(*node.object, context), index = eval(*node.index, context);
  if (object.isPoison() || index.isPoison()) return Value::poison();
  auto outOfRange = [&](size_t size) {
    if (!reported.insert(&node).second) return Value::poison();
    std::string position = show(index);
    diags.report(node.index->range, diag::IndexOutOfRange{.index = position, .size = size});
    return Value::poison();
  };
  if (object.is(ValueKind::List) && index.is(ValueKind::Int)) {
    ArrayRef<Item> items = object.asList();
    int64_t at = index.asInt();
    if (at < 0 || at >= static_cast<int64_t>(items.size())) return outOfRange(items.size());
    return items[static_cast<size_t>(at)].value;
  }
  if (object.is(ValueKind::String) && index.is(ValueKind::Int)) {
    // Characters, not bytes.
    StringRef text = object.asString();
    int64_t position = -1;
    size_t begin = 0, count = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
      ++count;
      if (++position == index.asInt()) begin = i;
    }
    if (index.asInt() < 0 || index.asInt() > position) return outOfRange(count);
    size_t end = begin + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    return Value::string(text.slice(begin, end));
  }
  if ((blockLike(object) || object.is(ValueKind::Ref)) && index.is(ValueKind::String)) {
    StringRef key = index.asString();
    if (key.empty()) key = StringRef("", 0);
    if (reported.contains(&node)) return Value::poison();
    size_t errors = diags.errorCount();
    Value value = member(object, key, node.index->range, node.object->range, false);
    if (value.isPoison() && diags.errorCount() > errors) reported.insert(&node);
    return value;
  }
  if (!reported.insert(&node).second) return Value::poison();
  if (object.isNull()) {
    StringRef text = compilation.sources.text(node.object->range);
    std::string key = show(index);
    diags.report(node.index->range, diag::FieldOfNull{.object = text.size() < 60 ? text : StringRef("it"), .name = key});
    return Value::poison();
  }
  std::string found = describe(object), with = describe(index);
  diags.report(node.index->range, diag::BadIndex{.found = found, .index = with});
  return Value::poison();
}

Value Analyzer::callFn(Symbol &symbol, const ast::Call &call, Context context) {
  if (symbol.recursive) return Value::poison();
  const auto &fn = *ast::as<ast::Fn>(symbol.stmt);
  llvm::SmallVector<const ast::Expr *, 8> given(fn.params.size(), nullptr);
  size_t position = 0;
  for (const ast::Argument &arg : call.args) {
    if (arg.name.text.empty()) {
      if (position < given.size()) given[position++] = arg.value;
      continue;
    }
    for (size_t p = 0; p < fn.params.size(); ++p)
      if (fn.params[p].name.text == arg.name.text) given[p] = arg.value;
  }
  const Env *env = nullptr;
  bool bad = false;
  for (size_t p = 0; p < fn.params.size(); ++p) {
    const ast::FnParam &param = fn.params[p];
    const Type *type = typeOf(*param.type, *symbol.module);
    Value value;
    SourceRange range = call.range;
    std::string what = "`" + param.name.text.str() + "` of `" + symbol.name.str() + "`";
    if (given[p]) {
      range = given[p]->range;
      value = eval(*given[p], context);
      if (type->kind != Type::Kind::Any) {
        if (reported.contains(given[p])) value = Value::poison();
        size_t errors = diags.errorCount();
        value = convertTo(deep(value), *type, range, what);
        if (value.isPoison() && diags.errorCount() > errors) reported.insert(given[p]);
      }
    } else if (param.value) {
      range = param.value->range;
      value = convertTo(deep(eval(*param.value, {})), *type, range, what);
    }
    if (!value.isPoison() && param.condition) {
      Context inner{bind(env, "it", value), nullptr};
      bool holds = false;
      if (!truth(*param.condition, inner, holds)) {
        value = Value::poison();
      } else if (!holds) {
        if (!given[p] || reported.insert(given[p]).second) {
          std::string found = show(value);
          auto report = diags.report(range, diag::ConditionFailed{.what = what, .value = found, .condition = compilation.sources.text(param.condition->range)});
          explainCondition(report, *param.condition, inner);
        }
        value = Value::poison();
      }
    }
    bad |= value.isPoison();
    env = bind(env, param.name.text, value);
  }
  if (bad) return Value::poison();
  const Type *type = typeOf(*fn.result, *symbol.module);
  const bool fromStd = symbol.module->isStd;
  size_t told = diags.all().size();
  Value result = eval(*fn.body, {env, nullptr});
  if (type->kind != Type::Kind::Any || fromStd) result = convertTo(deep(result), *type, fn.body->range, "the result of `" + symbol.name + "`");
  // What went wrong in there is told where it went wrong, and with the call that led to it.
  if (diags.all().size() > told) {
    std::string called = symbol.name.str();
    diags.noteWithin(told, fn.body->range, call.range, diag::CalledHere{.name = called});
  }
  return fromStd ? placedAt(result, call.range) : result;
}

// Nobody can mend the text of the standard library: what its functions make counts as written where they are called.
Value Analyzer::placedAt(const Value &value, SourceRange at) {
  auto place = [&](SourceRange range) {
    ModuleScope *module = range.valid() ? moduleOf(range.file) : nullptr;
    return !module || (module->isStd && module->file == range.file) ? at : range;
  };
  if (value.is(ValueKind::List)) {
    llvm::SmallVector<Item, 16> items;
    for (const Item &item : value.asList()) items.push_back({placedAt(item.value, at), place(item.range)});
    return Value::list(arena.copy<Item>(items));
  }
  if (!value.is(ValueKind::Block)) return value;
  BlockValue *block = arena.make<BlockValue>(value.asBlock());
  llvm::SmallVector<Entry, 8> entries(block->entries.begin(), block->entries.end());
  for (Entry &entry : entries) {
    entry.value = placedAt(entry.value, at);
    entry.range = place(entry.range);
    entry.keyRange = place(entry.keyRange);
    if (entry.nameRange.valid()) entry.nameRange = place(entry.nameRange);
  }
  block->entries = arena.copy<Entry>(entries);
  block->range = place(block->range);
  return Value::block(block);
}

Value Analyzer::callBuiltin(const Builtin &builtin, const ast::Call &call, Context context) {
  llvm::SmallVector<Value, 8> values(builtin.params.size());
  llvm::SmallVector<SourceRange, 8> ranges(builtin.params.size(), call.range);
  llvm::SmallVector<bool, 8> given(builtin.params.size(), false);
  size_t position = 0;
  bool bad = false;
  for (const ast::Argument &arg : call.args) {
    Value value = deep(eval(*arg.value, context));
    bad |= value.isPoison() || tooHeavy(value, arg.value->range);
    size_t index = position;
    if (arg.name.text.empty()) {
      ++position;
    } else {
      for (size_t p = 0; p < builtin.params.size(); ++p)
        if (builtin.params[p].name == arg.name.text) index = p;
    }
    if (index >= values.size()) {
      values.push_back(value);
      ranges.push_back(arg.value->range);
      given.push_back(true);
    } else {
      values[index] = value;
      ranges[index] = arg.value->range;
      given[index] = true;
    }
  }
  if (bad) return Value::poison();
  BuiltinCall ready{*this, call, builtin.name, values, ranges, ArrayRef<bool>(given.data(), given.size()), moduleOf(call.range.file)};
  return builtin.run(ready);
}

Value BuiltinCall::fail(size_t arg, const llvm::Twine &rule) {
  if (!analyzer.reported.insert(&syntax).second) return Value::poison();
  std::string text = rule.str();
  analyzer.diags.report(arg < ranges.size() ? ranges[arg] : syntax.range, diag::BadArgument{.function = name, .rule = text});
  return Value::poison();
}

ModuleScope *Analyzer::moduleOf(FileId file) {
  for (auto &module : modules)
    if (module->file == file) return module.get();
  return main;
}

Value Analyzer::evalCall(const ast::Call &call, Context context) {
  auto bound = bindings.find(call.callee);
  if (bound == bindings.end()) return Value::poison(); // reported
  Binding callee = bound->second;
  if (callee.kind == Binding::Kind::Symbol && callee.symbol->kind == Symbol::Kind::Fn) return callFn(*callee.symbol, call, context);
  if (callee.kind == Binding::Kind::Builtin) return callBuiltin(*callee.builtin, call, context);
  return Value::poison();
}

Value Analyzer::eval(const ast::Expr &expr, Context context) {
  if (tooDeep(expr.range) || !step(expr.range)) return Value::poison();
  if (!reported.empty() && reported.contains(&expr)) return Value::poison();
  struct Depth {
    unsigned &depth;
    ~Depth() { --depth; }
  } guard{++depth};
  switch (expr.kind) {
  case ast::ExprKind::ErrorExpr: return Value::poison();
  case ast::ExprKind::IntLiteral: return Value::integer(ast::as<ast::IntLiteral>(&expr)->value);
  case ast::ExprKind::FloatLiteral: return Value::number(ast::as<ast::FloatLiteral>(&expr)->value);
  case ast::ExprKind::AmountLiteral: {
    StringRef text = ast::as<ast::AmountLiteral>(&expr)->text;
    std::optional<Amount> amount = parseAmount(text);
    if (amount) return Value::amount(arena.make<Amount>(*amount));
    reported.insert(&expr);
    diags.report(expr.range, diag::InexactAmount{.value = text});
    return Value::poison();
  }
  case ast::ExprKind::DurationLiteral: return Value::duration(ast::as<ast::DurationLiteral>(&expr)->milliseconds);
  case ast::ExprKind::BoolLiteral: return Value::boolean(ast::as<ast::BoolLiteral>(&expr)->value);
  case ast::ExprKind::NullLiteral: return Value::null();
  case ast::ExprKind::StringLiteral: return evalString(*ast::as<ast::StringLiteral>(&expr), context);
  case ast::ExprKind::Self: return context.self ? Value::lazy(context.self) : Value::poison();
  case ast::ExprKind::Paren: return eval(*ast::as<ast::Paren>(&expr)->inner, context);
  case ast::ExprKind::NameRef:
    for (const Env *env = context.env; env; env = env->parent)
      if (env->name == ast::as<ast::NameRef>(&expr)->name) return env->thunk ? force(*env->thunk) : env->value;
    [[fallthrough]];
  case ast::ExprKind::Member: {
    auto bound = bindings.find(&expr);
    if (bound != bindings.end()) {
      Binding binding = bound->second;
      switch (binding.kind) {
      case Binding::Kind::Symbol: return forceSymbol(*binding.symbol, expr.range);
      case Binding::Kind::Decl:
      case Binding::Kind::Member: {
        if (binding.module->expansion == State::Active) {
          // Which declarations there are must not depend on declarations.
          if (reported.insert(&expr).second) diags.report(expr.range, diag::DeclInCondition{});
          return Value::poison();
        }
        bool ambiguous = false;
        DeclInfo *decl = findDecl(binding, ambiguous);
        return decl ? Value::ref(decl) : Value::poison();
      }
      default: return Value::poison();
      }
    }
    const auto *node = ast::as<ast::Member>(&expr);
    if (!node) return Value::poison();
    Value object = eval(*node->object, context);
    size_t errors = diags.errorCount();
    Value value = member(object, node->name.text, node->name.range, node->object->range, node->object->kind == ast::ExprKind::Self);
    if (value.isPoison() && diags.errorCount() > errors) reported.insert(&expr);
    return value;
  }
  case ast::ExprKind::Block: {
    const auto &node = *ast::as<ast::Block>(&expr);
    Object *object = makeObject();
    object->range = node.range;
    Layer layer;
    layer.fragments.push_back({node.stmts, 0, context.env, {}});
    layer.self = context.self;
    layer.range = node.range;
    object->layers.push_back(std::move(layer));
    if (context.self) object->lenient = context.self->lenient;
    return Value::lazy(object);
  }
  case ast::ExprKind::List: {
    llvm::SmallVector<Item, 16> items;
    for (const ast::Expr *item : ast::as<ast::List>(&expr)->items) {
      items.push_back({eval(*item, context), item->range});
    }
    if (!spendElements(items.size(), expr.range)) return Value::poison();
    // A bad item stays poison inside: the others are still worth checking.
    return Value::list(arena.copy<Item>(items));
  }
  case ast::ExprKind::Comprehension: return evalComprehension(*ast::as<ast::Comprehension>(&expr), context);
  case ast::ExprKind::IfExpr: {
    const auto &node = *ast::as<ast::IfExpr>(&expr);
    bool holds = false;
    if (!truth(*node.condition, context, holds)) return Value::poison();
    return eval(holds ? *node.then : *node.otherwise, context);
  }
  case ast::ExprKind::Unary: {
    const auto &node = *ast::as<ast::Unary>(&expr);
    Value value = eval(*node.operand, context);
    if (value.isPoison()) return value;
    if (node.op == ast::UnaryOp::Not) {
      if (value.is(ValueKind::Bool)) return Value::boolean(!value.asBool());
    } else {
      if (value.is(ValueKind::Float)) return Value::number(-value.asFloat());
      if (value.is(ValueKind::Int) || value.is(ValueKind::Duration)) {
        int64_t number = value.is(ValueKind::Int) ? value.asInt() : value.asMilliseconds();
        if (number != INT64_MIN) return value.is(ValueKind::Int) ? Value::integer(-number) : Value::duration(-number);
        std::string shown = show(value);
        reported.insert(&expr);
        diags.report(expr.range, diag::Overflow{.left = "0", .op = "-", .right = shown});
        return Value::poison();
      }
      if (value.is(ValueKind::Amount)) {
        Amount *amount = arena.make<Amount>(value.asAmount());
        amount->nano = -amount->nano;
        return Value::amount(amount);
      }
    }
    reported.insert(&expr);
    std::string found = describe(value);
    if (value.is(ValueKind::Source))
      diags.report(expr.range, diag::SecretUsed{.use = "computed with"});
    else
      diags.report(expr.range, diag::WrongOperand{.op = node.op == ast::UnaryOp::Not ? "not" : "-", .found = found});
    return Value::poison();
  }
  case ast::ExprKind::Binary: return binary(*ast::as<ast::Binary>(&expr), context);
  case ast::ExprKind::Call: return evalCall(*ast::as<ast::Call>(&expr), context);
  case ast::ExprKind::Index: return evalIndex(*ast::as<ast::Index>(&expr), context);
  case ast::ExprKind::With: {
    const auto &node = *ast::as<ast::With>(&expr);
    Value object = eval(*node.object, context);
    if (object.isPoison()) return object;
    if (!blockLike(object) && !object.is(ValueKind::Ref)) {
      std::string found = describe(object);
      reported.insert(&expr);
      diags.report(node.object->range, diag::CannotAmend{.found = found});
      return Value::poison();
    }
    Layer layer;
    layer.fragments.push_back({node.block->stmts, 0, context.env, {}});
    layer.self = context.self;
    layer.range = node.block->range;
    return amend(object, std::move(layer), expr.range);
  }
  }
  return Value::poison();
}

} // namespace kft::sema
