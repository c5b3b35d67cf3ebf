// The built-in functions, one row each in the table at the end. All are pure; what they make is counted.
#include "compiler/sema/data.h"
#include "compiler/sema/eval.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/SHA256.h"

#include <algorithm>
#include <cmath>

namespace kft::sema {

namespace {

using V = ValueKind;

bool numeric(const Value &value) { return value.is(V::Int) || value.is(V::Float); }

Value made(BuiltinCall &call, ArrayRef<Item> items) {
  if (!call.analyzer.spendElements(items.size(), call.syntax.range)) return Value::poison();
  return Value::list(call.analyzer.arena.copy<Item>(items));
}
Value made(BuiltinCall &call, StringRef text) {
  if (!call.analyzer.spendElements(text.size(), call.syntax.range)) return Value::poison();
  return Value::string(call.analyzer.arena.save(text));
}

size_t characters(StringRef text) {
  return static_cast<size_t>(llvm::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Each of these returns true when the argument is of the kind, and fails the call otherwise.
bool want(BuiltinCall &call, size_t arg, V kind, const char *name, Value &failed) {
  if (call.args[arg].is(kind)) return true;
  failed = call.fail(arg, "it takes " + llvm::Twine(name) + " here, not " + describe(call.args[arg]));
  return false;
}
#define KFT_WANT(arg, kind, name)                                                                                      \
  if (Value failed; !want(call, arg, V::kind, name, failed)) return failed
#define KFT_WANT_NUMBER(arg)                                                                                           \
  if (!numeric(call.args[arg])) return call.fail(arg, "it takes a number here, not " + describe(call.args[arg]))

Value len(BuiltinCall &call) {
  const Value &value = call.args[0];
  if (value.is(V::String)) return Value::integer(static_cast<int64_t>(characters(value.asString())));
  if (value.is(V::List)) return Value::integer(static_cast<int64_t>(value.asList().size()));
  if (value.is(V::Block)) return Value::integer(llvm::count_if(value.asBlock().entries, [](const Entry &entry) { return !entry.value.isNull(); }));
  return call.fail(0, "it takes a list, a string or a block, not " + describe(value));
}

// One list, or the arguments themselves.
bool operands(BuiltinCall &call, llvm::SmallVectorImpl<Value> &out) {
  if (call.count() == 1 && call.args[0].is(V::List)) {
    for (const Item &item : call.args[0].asList()) out.push_back(item.value);
    return true;
  }
  out.append(call.args.begin(), call.args.end());
  return true;
}

Value extreme(BuiltinCall &call, bool largest) {
  llvm::SmallVector<Value, 8> values;
  operands(call, values);
  if (values.empty()) return call.fail(0, "the list is empty");
  if (call.count() == 1 && !call.args[0].is(V::List)) return call.fail(0, "it takes a list, or two values and more");
  Value best = values[0];
  bool floats = llvm::any_of(values, [](const Value &value) { return value.is(V::Float); });
  for (const Value &value : values) {
    if (value.isPoison()) return Value::poison();
    bool comparable = false;
    int order = call.analyzer.compareValues(value, best, comparable);
    if (!comparable) return call.fail(0, "it cannot compare " + describe(best) + " and " + describe(value));
    if (largest ? order > 0 : order < 0) best = value;
  }
  return floats && best.is(V::Int) ? Value::number(best.asFloat()) : best;
}
Value minOf(BuiltinCall &call) { return extreme(call, false); }
Value maxOf(BuiltinCall &call) { return extreme(call, true); }

Value sum(BuiltinCall &call) {
  KFT_WANT(0, List, "a list");
  ast::Binary add{};
  add.kind = ast::ExprKind::Binary;
  add.range = add.opRange = call.ranges[0];
  add.op = ast::BinaryOp::Add;
  add.left = add.right = call.syntax.args[0].value;
  Value total = Value::integer(0);
  bool first = true;
  for (const Item &item : call.args[0].asList()) {
    if (item.value.isPoison()) return Value::poison();
    if (!numeric(item.value) && !item.value.is(V::Amount) && !item.value.is(V::Duration))
      return call.fail(0, "it adds numbers, amounts or durations, not " + describe(item.value));
    total = first ? item.value : call.analyzer.arithmetic(ast::BinaryOp::Add, add, total, item.value);
    call.analyzer.reported.erase(&add); // it lives on this stack; the next call may stand at its address
    if (total.isPoison()) return total;
    first = false;
  }
  return total;
}

Value absolute(BuiltinCall &call) {
  const Value &value = call.args[0];
  if (value.is(V::Float)) return Value::number(std::fabs(value.asFloat()));
  if (value.is(V::Int) || value.is(V::Duration)) {
    int64_t number = value.is(V::Int) ? value.asInt() : value.asMilliseconds();
    if (number == INT64_MIN) return call.fail(0, "the result does not fit into 64 bits");
    number = number < 0 ? -number : number;
    return value.is(V::Int) ? Value::integer(number) : Value::duration(number);
  }
  if (value.is(V::Amount)) {
    Amount *amount = call.analyzer.arena.make<Amount>(value.asAmount());
    if (amount->nano < 0) amount->nano = -amount->nano;
    return Value::amount(amount);
  }
  return call.fail(0, "it takes a number, an amount or a duration, not " + describe(value));
}

Value toInteger(BuiltinCall &call, double value) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) return call.fail(0, "the result does not fit into 64 bits");
  return Value::integer(static_cast<int64_t>(value));
}
Value floorOf(BuiltinCall &call) {
  KFT_WANT_NUMBER(0);
  return call.args[0].is(V::Int) ? call.args[0] : toInteger(call, std::floor(call.args[0].asFloat()));
}
Value ceilOf(BuiltinCall &call) {
  KFT_WANT_NUMBER(0);
  return call.args[0].is(V::Int) ? call.args[0] : toInteger(call, std::ceil(call.args[0].asFloat()));
}
// Halves go to the even neighbour, as in Python; with digits the result is a float.
Value roundOf(BuiltinCall &call) {
  KFT_WANT_NUMBER(0);
  if (!call.given[1]) return call.args[0].is(V::Int) ? call.args[0] : toInteger(call, std::nearbyint(call.args[0].asFloat()));
  KFT_WANT(1, Int, "a number of digits");
  int64_t digits = call.args[1].asInt();
  if (digits < 0 || digits > 15) return call.fail(1, "the number of digits is 0 to 15");
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(digits), call.args[0].asFloat());
  double result = 0;
  (void)StringRef(buffer).getAsDouble(result);
  return Value::number(result);
}
Value powOf(BuiltinCall &call) {
  KFT_WANT_NUMBER(0);
  KFT_WANT_NUMBER(1);
  const Value &base = call.args[0], &exponent = call.args[1];
  if (base.is(V::Int) && exponent.is(V::Int) && exponent.asInt() >= 0) {
    int64_t result = 1, factor = base.asInt(), rest = exponent.asInt();
    if (factor == 0 || factor == 1) return Value::integer(rest == 0 ? 1 : factor);
    if (factor == -1) return Value::integer(rest % 2 ? -1 : 1);
    for (; rest > 0; --rest)
      if (__builtin_mul_overflow(result, factor, &result)) return call.fail(0, "the result does not fit into 64 bits");
    return Value::integer(result);
  }
  double result = std::pow(base.asFloat(), exponent.asFloat());
  if (!std::isfinite(result)) return call.fail(0, "the result is not a finite number");
  return Value::number(result);
}
Value log2Of(BuiltinCall &call) {
  KFT_WANT_NUMBER(0);
  if (call.args[0].asFloat() <= 0) return call.fail(0, "it takes a number above 0, not " + describe(call.args[0]));
  return Value::number(std::log2(call.args[0].asFloat()));
}

Value rangeOf(BuiltinCall &call) {
  KFT_WANT(0, Int, "an int");
  int64_t count = call.args[0].asInt();
  if (count < 0) return call.fail(0, "it takes 0 or more, not " + describe(call.args[0]));
  if (!call.analyzer.spendElements(static_cast<uint64_t>(count), call.syntax.range)) return Value::poison();
  std::vector<Item> items;
  items.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) items.push_back({Value::integer(i), call.syntax.range});
  return Value::list(call.analyzer.arena.copy<Item>(items));
}
Value zip(BuiltinCall &call) {
  KFT_WANT(0, List, "a list");
  KFT_WANT(1, List, "a list");
  ArrayRef<Item> a = call.args[0].asList(), b = call.args[1].asList();
  if (a.size() != b.size())
    return call.fail(1, "both lists must have the same length; they have " + llvm::Twine(a.size()) + " and " + llvm::Twine(b.size()) + " items");
  llvm::SmallVector<Item, 16> items;
  if (!call.analyzer.spendElements(2 * a.size(), call.syntax.range)) return Value::poison();
  for (size_t i = 0; i < a.size(); ++i) {
    Item pair[] = {a[i], b[i]};
    items.push_back({Value::list(call.analyzer.arena.copy<Item>(pair)), a[i].range});
  }
  return made(call, items);
}
Value keys(BuiltinCall &call) {
  KFT_WANT(0, Block, "a block");
  llvm::SmallVector<Item, 16> items;
  for (const Entry &entry : call.args[0].asBlock().entries)
    if (!entry.value.isNull()) items.push_back({Value::string(entry.name.empty() ? entry.key : entry.name), entry.keyRange});
  return made(call, items);
}
Value values(BuiltinCall &call) {
  KFT_WANT(0, Block, "a block");
  llvm::SmallVector<Item, 16> items;
  for (const Entry &entry : call.args[0].asBlock().entries)
    if (!entry.value.isNull()) items.push_back({entry.value, entry.range});
  return made(call, items);
}

// Blocks merge by key at every depth; anything else of the later one replaces.
const BlockValue *mergeBlocks(Arena &arena, const BlockValue &a, const BlockValue &b, int depth) {
  llvm::SmallVector<Entry, 16> entries(a.entries.begin(), a.entries.end());
  llvm::DenseMap<std::pair<StringRef, StringRef>, size_t> index;
  for (size_t i = 0; i < entries.size(); ++i) index[{entries[i].key, entries[i].name}] = i;
  for (const Entry &entry : b.entries) {
    auto [at, isNew] = index.try_emplace({entry.key, entry.name}, entries.size());
    if (isNew) {
      entries.push_back(entry);
      continue;
    }
    Entry &old = entries[at->second];
    Value merged = entry.value;
    if (old.value.is(V::Block) && entry.value.is(V::Block) && depth < 200)
      merged = Value::block(mergeBlocks(arena, old.value.asBlock(), entry.value.asBlock(), depth + 1));
    old = entry;
    old.value = merged;
  }
  BlockValue *result = arena.make<BlockValue>();
  result->entries = arena.copy<Entry>(entries);
  result->range = b.range;
  result->from = a.from;
  return result;
}
Value merge(BuiltinCall &call) {
  for (size_t i = 0; i < call.count(); ++i) KFT_WANT(i, Block, "a block");
  const BlockValue *result = &call.args[0].asBlock();
  for (size_t i = 1; i < call.count(); ++i) result = mergeBlocks(call.analyzer.arena, *result, call.args[i].asBlock(), 0);
  if (!call.analyzer.spendElements(result->entries.size(), call.syntax.range)) return Value::poison();
  return Value::block(result);
}

Value contains(BuiltinCall &call) {
  const Value &in = call.args[0], &what = call.args[1];
  if (in.is(V::String)) {
    KFT_WANT(1, String, "a string");
    return Value::boolean(in.asString().contains(what.asString()));
  }
  if (in.is(V::Block)) {
    KFT_WANT(1, String, "a key");
    return Value::boolean(llvm::any_of(in.asBlock().entries, [&](const Entry &entry) { return !entry.value.isNull() && (entry.name.empty() ? entry.key : entry.name) == what.asString(); }));
  }
  if (!in.is(V::List)) return call.fail(0, "it takes a list, a string or a block, not " + describe(in));
  bool failed = false;
  for (const Item &item : in.asList()) {
    if (call.analyzer.equal(item.value, what, call.ranges[1], failed)) return Value::boolean(true);
    if (failed) {
      call.analyzer.reported.insert(&call.syntax);
      return Value::poison();
    }
  }
  return Value::boolean(false);
}
Value startsWith(BuiltinCall &call) {
  KFT_WANT(0, String, "a string");
  KFT_WANT(1, String, "a string");
  return Value::boolean(call.args[0].asString().startswith(call.args[1].asString()));
}
Value endsWith(BuiltinCall &call) {
  KFT_WANT(0, String, "a string");
  KFT_WANT(1, String, "a string");
  return Value::boolean(call.args[0].asString().endswith(call.args[1].asString()));
}
Value replace(BuiltinCall &call) {
  for (size_t i = 0; i < 3; ++i) KFT_WANT(i, String, "a string");
  StringRef text = call.args[0].asString(), old = call.args[1].asString(), with = call.args[2].asString();
  if (old.empty()) return call.fail(1, "there is nothing to replace in an empty string");
  std::string result;
  while (true) {
    size_t at = text.find(old);
    if (at == StringRef::npos) break;
    result += text.take_front(at);
    result += with;
    text = text.drop_front(at + old.size());
    if (result.size() > call.analyzer.elementsLeft) break;
  }
  result += text;
  return made(call, result);
}
Value split(BuiltinCall &call) {
  KFT_WANT(0, String, "a string");
  KFT_WANT(1, String, "a string");
  StringRef text = call.args[0].asString(), by = call.args[1].asString();
  if (by.empty()) return call.fail(1, "the separator is empty");
  llvm::SmallVector<Item, 16> items;
  while (true) {
    size_t at = text.find(by);
    items.push_back({Value::string(text.take_front(at)), call.ranges[0]});
    if (at == StringRef::npos) break;
    text = text.drop_front(at + by.size());
  }
  return made(call, items);
}
Value join(BuiltinCall &call) {
  KFT_WANT(0, List, "a list");
  KFT_WANT(1, String, "a string");
  std::string result;
  bool first = true;
  for (const Item &item : call.args[0].asList()) {
    if (item.value.isPoison()) return Value::poison();
    if (!first) result += call.args[1].asString();
    first = false;
    if (!item.value.is(V::String)) return call.fail(0, "it joins strings, not " + describe(item.value));
    result += item.value.asString();
    if (result.size() > call.analyzer.elementsLeft) break;
  }
  return made(call, result);
}
// ASCII only: other letters depend on language and version of Unicode.
Value upper(BuiltinCall &call) {
  KFT_WANT(0, String, "a string");
  return made(call, call.args[0].asString().upper());
}
Value lower(BuiltinCall &call) {
  KFT_WANT(0, String, "a string");
  return made(call, call.args[0].asString().lower());
}
Value trim(BuiltinCall &call) {
  KFT_WANT(0, String, "a string");
  return Value::string(call.args[0].asString().trim(" \t\r\n"));
}
Value pad(BuiltinCall &call) {
  std::string text;
  if (!call.analyzer.text(call.args[0], text)) return call.fail(0, "it takes text or a number, not " + describe(call.args[0]));
  KFT_WANT(1, Int, "a width");
  StringRef fill = " ", side = "start";
  if (call.given[2]) {
    KFT_WANT(2, String, "one character");
    fill = call.args[2].asString();
    if (characters(fill) != 1) return call.fail(2, "it fills with one character");
  }
  if (call.given[3]) {
    KFT_WANT(3, String, "`\"start\"` or `\"end\"`");
    side = call.args[3].asString();
    if (side != "start" && side != "end") return call.fail(3, "the side is `\"start\"` or `\"end\"`");
  }
  int64_t missing = call.args[1].asInt() - static_cast<int64_t>(characters(text));
  if (missing > static_cast<int64_t>(call.analyzer.elementsLeft)) missing = static_cast<int64_t>(call.analyzer.elementsLeft) + 1;
  std::string filling;
  for (int64_t i = 0; i < missing; ++i) filling += fill;
  return made(call, side == "start" ? filling + text : text + filling);
}

// The part of Python's format mini-language that numbers and text need: [[fill]align][sign][0][width][,][.precision][type].
Value format(BuiltinCall &call) {
  KFT_WANT(1, String, "a format such as `\".3f\"`");
  StringRef spec = call.args[1].asString();
  const Value &value = call.args[0];
  char align = 0, sign = '-';
  std::string fill = " ";
  auto isAlign = [](char c) { return c == '<' || c == '>' || c == '^'; };
  auto bad = [&] { return call.fail(1, "`" + call.args[1].asString() + "` is no format; one reads `[[fill]align][sign][0][width][,][.precision][type]`"); };
  size_t first = 1;
  while (first < spec.size() && (static_cast<unsigned char>(spec[first]) & 0xC0) == 0x80) ++first;
  if (spec.size() > first && isAlign(spec[first])) {
    fill = spec.take_front(first).str();
    align = spec[first];
    spec = spec.drop_front(first + 1);
  } else if (!spec.empty() && isAlign(spec[0])) {
    align = spec[0];
    spec = spec.drop_front();
  }
  if (!spec.empty() && (spec[0] == '+' || spec[0] == '-' || spec[0] == ' ')) {
    sign = spec[0];
    spec = spec.drop_front();
  }
  bool zero = spec.size() > 1 && spec.consume_front("0");
  unsigned width = 0;
  int precision = -1;
  if (!spec.empty() && llvm::isDigit(spec[0]) && (spec.consumeInteger(10, width) || width > 10'000)) return bad();
  bool comma = spec.consume_front(",");
  if (spec.consume_front(".")) {
    unsigned digits;
    if (spec.consumeInteger(10, digits) || digits > 300) return bad();
    precision = static_cast<int>(digits);
  }
  char type = 0;
  if (!spec.empty()) {
    type = spec[0];
    spec = spec.drop_front();
  }
  if (!spec.empty()) return bad();
  std::string body, prefix;
  if (numeric(value)) {
    if (type == 0 && precision >= 0) type = 'g';
    if (type == 0 || type == 'd' || type == 'x' || type == 'X' || type == 'o' || type == 'b') {
      if (value.is(V::Float)) {
        if (type) return call.fail(0, "`" + llvm::Twine(type) + "` formats an int, not " + describe(value));
        body = floatText(std::fabs(value.asFloat()));
        if (std::signbit(value.asFloat())) prefix = "-";
      } else {
        if (precision >= 0) return bad();
        int64_t number = value.asInt();
        uint64_t magnitude = number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
        if (number < 0) prefix = "-";
        unsigned base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : type == 'b' ? 2 : 10;
        // A pointer of its own: GCC 12 under its sanitizers reads the first character of a literal chosen in place.
        const char *digits = type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
        do {
          body.insert(body.begin(), digits[magnitude % base]);
          magnitude /= base;
        } while (magnitude);
      }
    } else if (type == 'f' || type == 'e' || type == 'g' || type == '%' || type == 'E' || type == 'G') {
      double number = value.asFloat() * (type == '%' ? 100 : 1);
      if (std::signbit(number)) prefix = "-";
      char pattern[] = {'%', '.', '*', type == '%' ? 'f' : type, 0};
      char buffer[800];
      std::snprintf(buffer, sizeof buffer, pattern, precision < 0 ? 6 : precision, std::fabs(number));
      body = buffer;
      if (type == '%') body += '%';
    } else {
      return bad();
    }
    if (prefix.empty() && sign != '-') prefix = std::string(1, sign);
    if (comma) {
      size_t end = body.find_first_not_of("0123456789");
      if (end == std::string::npos) end = body.size();
      for (size_t at = end; at > 3; at -= 3) body.insert(at - 3, ",");
    }
    if (zero && !align && prefix.size() + body.size() < width) body.insert(0, width - prefix.size() - body.size(), '0');
    if (!align) align = '>';
  } else {
    if (!call.analyzer.text(value, body)) return call.fail(0, "it takes text or a number, not " + describe(value));
    if ((type && type != 's') || comma || sign != '-' || zero) return bad();
    if (precision >= 0) {
      size_t end = 0;
      for (int count = 0; end < body.size(); ++end)
        if ((static_cast<unsigned char>(body[end]) & 0xC0) != 0x80 && count++ == precision) break;
      body.resize(end);
    }
    if (!align) align = '<';
  }
  std::string result = prefix + body;
  size_t length = characters(result);
  std::string before, after;
  for (size_t missing = width > length ? width - length : 0, i = 0; i < missing; ++i)
    (align == '>' || (align == '^' && i < missing / 2) ? before : after) += fill;
  return made(call, before + result + after);
}

Value sort(BuiltinCall &call) {
  KFT_WANT(0, List, "a list");
  llvm::SmallVector<Item, 16> items(call.args[0].asList().begin(), call.args[0].asList().end());
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].value.isPoison()) return Value::poison();
    bool comparable = false;
    call.analyzer.compareValues(items[0].value, items[i].value, comparable);
    if (!comparable) return call.fail(0, "it cannot order " + describe(items[0].value) + " and " + describe(items[i].value));
  }
  std::stable_sort(items.begin(), items.end(), [&](const Item &a, const Item &b) {
    bool comparable = false;
    return call.analyzer.compareValues(a.value, b.value, comparable) < 0;
  });
  return made(call, items);
}
Value unique(BuiltinCall &call) {
  KFT_WANT(0, List, "a list");
  llvm::SmallVector<Item, 16> items;
  llvm::DenseSet<StringRef> texts;
  llvm::DenseSet<int64_t> numbers;
  for (const Item &item : call.args[0].asList()) {
    if (item.value.isPoison()) return Value::poison();
    bool known = false, failed = false;
    if (item.value.is(V::String)) {
      known = !texts.insert(item.value.asString().data() ? item.value.asString() : StringRef("", 0)).second;
    } else if (item.value.is(V::Int) && item.value.asInt() < INT64_MAX - 2) {
      known = !numbers.insert(item.value.asInt()).second;
    } else {
      for (const Item &other : items) {
        if (other.value.kind() != item.value.kind()) continue;
        if (!call.analyzer.step(call.syntax.range)) return Value::poison();
        known |= call.analyzer.equal(other.value, item.value, call.ranges[0], failed);
        if (failed) {
          call.analyzer.reported.insert(&call.syntax);
          return Value::poison();
        }
        if (known) break;
      }
    }
    if (!known) items.push_back(item);
  }
  return made(call, items);
}
Value flatten(BuiltinCall &call) {
  KFT_WANT(0, List, "a list of lists");
  llvm::SmallVector<Item, 16> items;
  for (const Item &item : call.args[0].asList()) {
    if (item.value.is(V::List))
      items.append(item.value.asList().begin(), item.value.asList().end());
    else
      items.push_back(item);
    if (items.size() > call.analyzer.elementsLeft) break;
  }
  return made(call, items);
}
Value get(BuiltinCall &call) {
  KFT_WANT(1, String, "a key");
  if (call.args[0].isNull()) return call.args[2];
  if (call.args[0].is(V::Ref)) {
    // A field of a declaration that may not be given.
    DeclInfo &decl = const_cast<DeclInfo &>(static_cast<const DeclInfo &>(call.args[0].asRef()));
    Object *object = call.analyzer.objectOf(decl, call.ranges[0]);
    if (!object) return Value::poison();
    Slot *slot = call.analyzer.find(*object, call.args[1].asString());
    if (!slot) return call.args[2];
    Value value = call.analyzer.deep(call.analyzer.force(*object, *slot, call.ranges[1]));
    return value.isNull() ? call.args[2] : value;
  }
  KFT_WANT(0, Block, "a block");
  const Entry *entry = call.args[0].asBlock().find(call.args[1].asString());
  return entry && !entry->value.isNull() ? entry->value : call.args[2];
}

Value intOf(BuiltinCall &call) {
  const Value &value = call.args[0];
  if (value.is(V::Int)) return value;
  if (value.is(V::Float)) return toInteger(call, std::trunc(value.asFloat()));
  if (value.is(V::Bool)) return Value::integer(value.asBool());
  if (value.is(V::Amount)) {
    if (!value.asAmount().isWhole()) return call.fail(0, describe(value) + " is not whole");
    return Value::integer(value.asAmount().ceil());
  }
  if (value.is(V::String)) {
    int64_t result;
    StringRef text = value.asString().trim();
    text.consume_front("+");
    if (text.getAsInteger(10, result)) return call.fail(0, describe(value) + " does not read as an int");
    return Value::integer(result);
  }
  return call.fail(0, "it takes a number, a bool, an amount or a string, not " + describe(value));
}
Value floatOf(BuiltinCall &call) {
  const Value &value = call.args[0];
  if (numeric(value)) return Value::number(value.asFloat());
  if (value.is(V::Amount)) return Value::number(static_cast<double>(value.asAmount().nano) / 1e9);
  if (value.is(V::Duration)) return Value::number(static_cast<double>(value.asMilliseconds()) / 1e3);
  if (value.is(V::String)) {
    double result;
    StringRef text = value.asString().trim();
    bool digits = text.find_first_of("0123456789") != StringRef::npos && text.find_first_not_of("0123456789+-.eE") == StringRef::npos;
    if (!digits || text.getAsDouble(result) || !std::isfinite(result)) return call.fail(0, describe(value) + " does not read as a float");
    return Value::number(result);
  }
  return call.fail(0, "it takes a number, an amount, a duration or a string, not " + describe(value));
}

Value base64(BuiltinCall &call) {
  KFT_WANT(0, String, "a string");
  return made(call, llvm::encodeBase64(call.args[0].asString()));
}
Value sha256(BuiltinCall &call) {
  KFT_WANT(0, String, "a string");
  llvm::SHA256 hash;
  hash.update(call.args[0].asString());
  return made(call, llvm::toHex(hash.final(), /*LowerCase=*/true));
}
// A part that failed was reported where it stands.
bool holdsPoison(const Value &value) {
  if (value.is(V::List)) return llvm::any_of(value.asList(), [](const Item &item) { return holdsPoison(item.value); });
  if (value.is(V::Block)) return llvm::any_of(value.asBlock().entries, [](const Entry &entry) { return holdsPoison(entry.value); });
  return value.isPoison();
}

Value json(BuiltinCall &call) {
  if (holdsPoison(call.args[0])) return Value::poison();
  std::string text;
  if (!data::json(call.args[0], text)) return call.fail(0, "secrets and references to declarations have no text");
  return made(call, text);
}
Value yaml(BuiltinCall &call) {
  if (holdsPoison(call.args[0])) return Value::poison();
  std::string text;
  if (!data::yaml(call.args[0], text)) return call.fail(0, "secrets and references to declarations have no text");
  return made(call, text);
}
Value parsed(BuiltinCall &call, bool isJson) {
  KFT_WANT(0, String, "a string");
  data::ParseError error;
  std::optional<Value> value = (isJson ? data::parseJson : data::parseYaml)(call.args[0].asString(), FileId(), call.ranges[0], call.analyzer.arena,
                                                                           call.analyzer.elementsLeft, error);
  if (value) return *value;
  size_t line = 1 + call.args[0].asString().take_front(error.offset).count('\n');
  return call.fail(0, "line " + llvm::Twine(line) + " of the text is no " + (isJson ? "JSON" : "YAML") + ": " + error.message);
}
Value parseJson(BuiltinCall &call) { return parsed(call, true); }
Value parseYaml(BuiltinCall &call) { return parsed(call, false); }

Value read(BuiltinCall &call) {
  KFT_WANT(0, String, "a path");
  if (call.analyzer.reported.contains(&call.syntax)) return Value::poison();
  const std::string *text = call.analyzer.readFile(*call.module, call.args[0].asString(), call.ranges[0]);
  if (!text) {
    call.analyzer.reported.insert(&call.syntax);
    return Value::poison();
  }
  const auto *bytes = reinterpret_cast<const llvm::UTF8 *>(text->data());
  if (!llvm::isLegalUTF8String(&bytes, bytes + text->size())) return call.fail(0, "the file is not UTF-8 text");
  return made(call, *text);
}

Value source(BuiltinCall &call, Source::Kind kind, const char *what) {
  KFT_WANT(0, String, "a name");
  if (call.args[0].asString().empty()) return call.fail(0, llvm::Twine(what) + " is empty");
  StringRef key;
  if (call.count() > 1 && call.given[1]) {
    if (!call.args[1].isNull()) {
      KFT_WANT(1, String, "a key");
      key = call.args[1].asString();
      if (key.empty()) return call.fail(1, "the key is empty");
    }
  }
  return Value::source(call.analyzer.arena.make<Source>(kind, call.args[0].asString(), key));
}
Value secret(BuiltinCall &call) { return source(call, Source::Kind::Secret, "the name of the secret"); }
Value config(BuiltinCall &call) { return source(call, Source::Kind::Config, "the name of the config map"); }
Value field(BuiltinCall &call) { return source(call, Source::Kind::Field, "the path of the field"); }
Value resource(BuiltinCall &call) { return source(call, Source::Kind::Resource, "the name of the resource"); }

Value manifests(BuiltinCall &call) {
  KFT_WANT(0, String, "a kind of manifest");
  if (!call.analyzer.test || !call.analyzer.test->manifests) return Value::poison();
  return call.analyzer.test->manifests(call.analyzer.finished, call.args[0].asString(), call.ranges[0]);
}

constexpr BuiltinParam One[] = {{"value", true}};
constexpr BuiltinParam Text[] = {{"text", true}};
constexpr BuiltinParam ListParam[] = {{"list", true}};
constexpr BuiltinParam MapParam[] = {{"map", true}};
constexpr BuiltinParam Round[] = {{"value", true}, {"digits", false}};
constexpr BuiltinParam Pow[] = {{"base", true}, {"exponent", true}};
constexpr BuiltinParam Count[] = {{"count", true}};
constexpr BuiltinParam Zip[] = {{"first", true}, {"second", true}};
constexpr BuiltinParam Contains[] = {{"in", true}, {"what", true}};
constexpr BuiltinParam Starts[] = {{"text", true}, {"start", true}};
constexpr BuiltinParam Ends[] = {{"text", true}, {"end", true}};
constexpr BuiltinParam Replace[] = {{"text", true}, {"old", true}, {"new", true}};
constexpr BuiltinParam Split[] = {{"text", true}, {"separator", true}};
constexpr BuiltinParam Join[] = {{"list", true}, {"separator", true}};
constexpr BuiltinParam Pad[] = {{"text", true}, {"width", true}, {"fill", false}, {"side", false}};
constexpr BuiltinParam Format[] = {{"value", true}, {"format", true}};
constexpr BuiltinParam Get[] = {{"map", true}, {"key", true}, {"default", true}};
constexpr BuiltinParam Path[] = {{"path", true}};
constexpr BuiltinParam Keyed[] = {{"name", true}, {"key", false}};
constexpr BuiltinParam NameParam[] = {{"name", true}};
constexpr BuiltinParam KindParam[] = {{"kind", true}};

const Type anyList = [] {
  Type type{Type::Kind::List};
  type.element = &Type::any;
  return type;
}();
const Type stringList = [] {
  Type type{Type::Kind::List};
  type.element = &Type::string;
  return type;
}();
const Type intList = [] {
  Type type{Type::Kind::List};
  type.element = &Type::integer;
  return type;
}();

const Builtin Table[] = {
    {"abs", One, false, &Type::any, absolute},
    {"base64", Text, false, &Type::string, base64},
    {"ceil", One, false, &Type::integer, ceilOf},
    {"config", Keyed, false, &Type::source, config},
    {"contains", Contains, false, &Type::boolean, contains},
    {"ends_with", Ends, false, &Type::boolean, endsWith},
    {"field", Path, false, &Type::source, field},
    {"flatten", ListParam, false, &anyList, flatten},
    {"float", One, false, &Type::number, floatOf},
    {"floor", One, false, &Type::integer, floorOf},
    {"format", Format, false, &Type::string, format},
    {"get", Get, false, &Type::any, get},
    {"int", One, false, &Type::integer, intOf},
    {"join", Join, false, &Type::string, join},
    {"json", One, false, &Type::string, json},
    {"keys", MapParam, false, &stringList, keys},
    {"len", One, false, &Type::integer, len},
    {"log2", One, false, &Type::number, log2Of},
    {"lower", Text, false, &Type::string, lower},
    {"manifests", KindParam, false, &Type::block, manifests},
    {"max", One, true, &Type::any, maxOf},
    {"merge", MapParam, true, &Type::block, merge},
    {"min", One, true, &Type::any, minOf},
    {"pad", Pad, false, &Type::string, pad},
    {"parse_json", Text, false, &Type::any, parseJson},
    {"parse_yaml", Text, false, &Type::any, parseYaml},
    {"pow", Pow, false, &Type::any, powOf},
    {"range", Count, false, &intList, rangeOf},
    {"read", Path, false, &Type::string, read},
    {"replace", Replace, false, &Type::string, replace},
    {"resource", NameParam, false, &Type::source, resource},
    {"round", Round, false, &Type::any, roundOf},
    {"secret", Keyed, false, &Type::source, secret},
    {"sha256", Text, false, &Type::string, sha256},
    {"sort", ListParam, false, &anyList, sort},
    {"split", Split, false, &stringList, split},
    {"starts_with", Starts, false, &Type::boolean, startsWith},
    {"sum", ListParam, false, &Type::any, sum},
    {"trim", Text, false, &Type::string, trim},
    {"unique", ListParam, false, &anyList, unique},
    {"upper", Text, false, &Type::string, upper},
    {"values", MapParam, false, &anyList, values},
    {"yaml", One, false, &Type::string, yaml},
    {"zip", Zip, false, &anyList, zip},
};

} // namespace

const Builtin *findBuiltin(StringRef name) {
  const Builtin *at = std::lower_bound(std::begin(Table), std::end(Table), name, [](const Builtin &row, StringRef text) { return StringRef(row.name) < text; });
  return at != std::end(Table) && name == at->name ? at : nullptr;
}

ArrayRef<StringRef> builtinNames() {
  static const std::vector<StringRef> names = [] {
    std::vector<StringRef> result;
    for (const Builtin &row : Table)
      if (StringRef(row.name) != "manifests") result.push_back(row.name);
    return result;
  }();
  return names;
}

} // namespace kft::sema
