#include "compiler/sema/type.h"

#include "compiler/sema/module.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace kft::sema {

const Type Type::any{Type::Kind::Any};
const Type Type::boolean{Type::Kind::Bool};
const Type Type::integer{Type::Kind::Int};
const Type Type::number{Type::Kind::Float};
const Type Type::string{Type::Kind::String};
const Type Type::amount{Type::Kind::Amount};
const Type Type::duration{Type::Kind::Duration};
const Type Type::block{Type::Kind::Block};
const Type Type::source{Type::Kind::Source};

namespace {

using K = Type::Kind;

void append(std::string &out, const Type &type, int depth) {
  if (!type.name.empty() && type.kind != K::Ref) {
    out += type.name;
    return;
  }
  if (depth > 6) {
    out += "…";
    return;
  }
  switch (type.kind) {
  case K::Error:
  case K::Any: out += "any"; return;
  case K::Bool: out += "bool"; return;
  case K::Int: out += "int"; return;
  case K::Float: out += "float"; return;
  case K::String: out += "string"; return;
  case K::Amount: out += "amount"; return;
  case K::Duration: out += "duration"; return;
  case K::Block: out += "block"; return;
  case K::Source: out += "secret"; return;
  case K::Ref: out += type.name; return;
  case K::List:
  case K::Map:
    out += type.kind == K::List ? "list<" : "map<";
    append(out, *type.element, depth + 1);
    out += '>';
    return;
  case K::Optional: append(out, *type.element, depth + 1); out += '?'; return;
  case K::Choice: {
    bool first = true;
    for (StringRef text : type.strings) {
      if (!first) out += " | ";
      first = false;
      out += show(Value::string(text));
    }
    for (const Type *other : type.others) {
      if (!first) out += " | ";
      first = false;
      append(out, *other, depth + 1);
    }
    return;
  }
  case K::Record: {
    out += "{ ";
    bool first = true;
    for (const RecordMember &member : type.members) {
      if (!first) out += ", ";
      first = false;
      out += member.name;
      out += ": ";
      append(out, *member.type, depth + 1);
    }
    out += " }";
    return;
  }
  }
}

// Negative, zero, positive; both of one numeric kind.
int compare(const Value &a, const Value &b) {
  if (a.is(ValueKind::Int) && b.is(ValueKind::Int)) return a.asInt() < b.asInt() ? -1 : a.asInt() > b.asInt();
  if (a.is(ValueKind::Amount) && b.is(ValueKind::Amount))
    return a.asAmount().nano < b.asAmount().nano ? -1 : a.asAmount().nano > b.asAmount().nano;
  if (a.is(ValueKind::Duration) && b.is(ValueKind::Duration))
    return a.asMilliseconds() < b.asMilliseconds() ? -1 : a.asMilliseconds() > b.asMilliseconds();
  if (a.is(ValueKind::Int) || a.is(ValueKind::Float)) return a.asFloat() < b.asFloat() ? -1 : a.asFloat() > b.asFloat();
  return 0;
}

// "`"a"` or `"b"`", "an `int`": what stands after "must be".
std::string wanted(const Type &type) {
  switch (type.kind) {
  case K::List: {
    if (type.element->kind == K::Any) return "a list";
    return "a list, `" + typeText(type) + "`";
  }
  case K::Map: return "a block, `" + typeText(type) + "`";
  case K::Block:
  case K::Record: return type.name.empty() ? "a block" : "a block of type `" + type.name.str() + "`";
  case K::Source: return "a `secret(…)` or another source";
  case K::Ref: return "a `" + type.name.str() + "`";
  case K::Int: return "an `" + typeText(type) + "`";
  case K::Amount: return "an `" + typeText(type) + "`, such as `500m` or `16Gi`";
  case K::Duration: return "a `" + typeText(type) + "`, such as `30s` or `1h30min`";
  case K::Choice: {
    if (!type.name.empty() && type.strings.size() > 8) return "one of `" + type.name.str() + "`";
    llvm::SmallVector<std::string, 8> parts;
    for (StringRef text : type.strings) parts.push_back("`" + show(Value::string(text)) + "`");
    for (const Type *other : type.others) parts.push_back(wanted(*other));
    std::string result;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i) result += i + 1 == parts.size() ? " or " : ", ";
      result += parts[i];
    }
    return result;
  }
  case K::Optional: return wanted(*type.element) + " or `null`";
  default: return "a `" + typeText(type) + "`";
  }
}

// Reads as an int, float, bool or null literal: what somebody writes who forgot quotes, or quoted too much.
bool looksLikeNumber(StringRef text) {
  double ignored;
  return !text.empty() && !text.getAsDouble(ignored);
}

// `6h`, `1h30min`.
bool looksLikeDuration(StringRef text) {
  if (text.empty()) return false;
  while (!text.empty()) {
    StringRef digits = text.take_while(llvm::isDigit);
    StringRef unit = text.drop_front(digits.size()).take_while(llvm::isAlpha);
    if (digits.empty() || !llvm::StringSwitch<bool>(unit).Cases("ms", "s", "min", "h", "d", true).Default(false)) return false;
    text = text.drop_front(digits.size() + unit.size());
  }
  return true;
}

struct Converter {
  Compilation &compilation;
  bool silent;
  bool failed = false;

  Value fail() {
    failed = true;
    return Value::poison();
  }

  Value mismatch(const Value &value, const Type &type, SourceRange at, const llvm::Twine &what) {
    failed = true;
    if (silent) return Value::poison();
    std::string place = what.str();
    if (value.is(ValueKind::Source) && value.asSource().kind == Source::Kind::Secret) {
      compilation.diags.report(at, diag::SecretNotAllowed{.what = place});
      return Value::poison();
    }
    std::string found = describe(value), want = wanted(type);
    auto report = compilation.diags.report(at, diag::TypeMismatch{.what = place, .found = found, .wanted = want});
    StringRef text = at.valid() ? compilation.sources.text(at) : StringRef();
    const Type &inner = type.kind == K::Optional ? *type.element : type;
    bool wantsString = inner.kind == K::String || (inner.kind == K::Choice && !inner.strings.empty());
    bool scalar = value.is(ValueKind::Int) || value.is(ValueKind::Float) || value.is(ValueKind::Bool) ||
                  value.is(ValueKind::Amount) || value.is(ValueKind::Duration);
    bool literal = scalar && !text.empty() && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '.' || c == '-' || c == '+' || c == '_'; }) &&
                   (llvm::isDigit(text[0]) || text[0] == '-' || text == "true" || text == "false");
    if (wantsString && literal) {
      std::string quoted = "\"" + text.str() + "\"";
      report.fixit(at, quoted, diag::QuoteIt{.text = quoted});
      return Value::poison();
    }
    if (value.is(ValueKind::String) && text == "\"" + value.asString().str() + "\"") {
      StringRef bare = value.asString();
      bool numeric = (inner.kind == K::Int && bare.find_first_of(".eE") == StringRef::npos) || inner.kind == K::Float;
      if ((numeric && looksLikeNumber(bare)) || (inner.kind == K::Bool && (bare == "true" || bare == "false")) ||
          (inner.kind == K::Amount && parseAmount(bare)) || (inner.kind == K::Duration && looksLikeDuration(bare))) {
        report.fixit(at, bare, diag::WithoutQuotes{.text = bare});
        return Value::poison();
      }
    }
    if (inner.kind == K::Ref && value.is(ValueKind::String)) {
      StringRef given = value.asString();
      bool place = given.contains("://") || given.startswith("./") || given.startswith("../") || given.startswith("/");
      if (place && (inner.name == "dataset" || inner.name == "model") && !text.empty() && text.size() < 200 && !text.contains('\n')) {
        std::string block = "{ source = " + text.str() + " }";
        report.fixit(at, block, diag::WriteInstead{.text = block});
      } else {
        report.note(diag::NameADecl{.kind = inner.name});
      }
      return Value::poison();
    }
    if (inner.kind == K::Duration && value.is(ValueKind::Amount) && literal && text.endswith("m")) {
      std::string minutes = text.str() + "in";
      report.fixit(at, minutes, diag::MilliNotMinutes{.text = minutes});
    } else if (inner.kind == K::Duration && value.is(ValueKind::Int) && literal) {
      std::string seconds = text.str() + "s", minutes = text.str() + "min";
      report.note(diag::DurationNeedsUnit{.seconds = seconds, .minutes = minutes});
    } else if (inner.kind == K::Int && value.is(ValueKind::Float)) {
      report.note(diag::FloatToInt{});
    } else if (inner.kind == K::List && !value.is(ValueKind::Block) && !value.isNull() && !text.empty() && text.size() < 60 &&
               accepts(*inner.element, value)) {
      std::string list = "[" + text.str() + "]";
      report.fixit(at, list, diag::WriteList{.text = list});
    }
    return Value::poison();
  }

  Value bounded(const Value &value, const Type &type, SourceRange at, const llvm::Twine &what) {
    bool low = !type.min.isPoison() && (type.above ? compare(value, type.min) <= 0 : compare(value, type.min) < 0);
    bool high = !type.max.isPoison() && compare(value, type.max) > 0;
    if (!low && !high) return value;
    failed = true;
    if (silent) return Value::poison();
    std::string place = what.str(), found = show(value);
    std::string rule = low ? (type.above ? "more than `" : "at least `") + show(type.min) + "`" : "at most `" + show(type.max) + "`";
    compilation.diags.report(at, diag::OutOfBounds{.what = place, .value = found, .rule = rule});
    return Value::poison();
  }

  Value run(const Value &value, const Type &type, SourceRange at, const llvm::Twine &what) {
    Value result = plain(value, type, at, what);
    if (result.isPoison() || !type.condition) return result;
    if (silent) return result;
    std::string place = what.str();
    if (!type.condition->check(result, at, place, compilation)) return fail();
    return result;
  }

  Value plain(const Value &value, const Type &type, SourceRange at, const llvm::Twine &what) {
    if (value.isPoison()) return value;
    switch (type.kind) {
    case K::Error:
    case K::Any: return value;
    case K::Bool: return value.is(ValueKind::Bool) ? value : mismatch(value, type, at, what);
    case K::String: return value.is(ValueKind::String) ? value : mismatch(value, type, at, what);
    case K::Source: return value.is(ValueKind::Source) ? value : mismatch(value, type, at, what);
    case K::Int: return value.is(ValueKind::Int) ? bounded(value, type, at, what) : mismatch(value, type, at, what);
    case K::Duration: return value.is(ValueKind::Duration) ? bounded(value, type, at, what) : mismatch(value, type, at, what);
    case K::Float:
      if (value.is(ValueKind::Int)) return bounded(Value::number(static_cast<double>(value.asInt())), type, at, what);
      return value.is(ValueKind::Float) ? bounded(value, type, at, what) : mismatch(value, type, at, what);
    case K::Amount: {
      if (value.is(ValueKind::Amount)) return bounded(value, type, at, what);
      if (value.is(ValueKind::Int) || value.is(ValueKind::Float)) {
        std::string text = value.is(ValueKind::Int) ? std::to_string(value.asInt()) : floatText(value.asFloat());
        // Python's exponents are what apimachinery reads as well, but for the trailing `.0` nobody writes.
        StringRef digits = text;
        digits.consume_back(".0");
        if (std::optional<Amount> amount = parseAmount(digits)) {
          amount->format = Amount::Format::DecimalSI;
          return bounded(Value::amount(compilation.arena.make<Amount>(*amount)), type, at, what);
        }
        failed = true;
        if (!silent) compilation.diags.report(at, diag::InexactAmount{.value = text});
        return Value::poison();
      }
      return mismatch(value, type, at, what);
    }
    case K::Optional: return value.isNull() ? value : run(value, *type.element, at, what);
    case K::Block: return value.is(ValueKind::Block) ? value : mismatch(value, type, at, what);
    case K::Ref:
      if (value.is(ValueKind::Ref) && value.asRef().kind == type.name) return value;
      if (value.is(ValueKind::Block) && (!value.asBlock().from || value.asBlock().from->kind == type.name)) return value;
      return mismatch(value, type, at, what);
    case K::List: {
      if (!value.is(ValueKind::List)) return mismatch(value, type, at, what);
      if (type.element->kind == K::Any) return value;
      llvm::SmallVector<Item, 16> items;
      bool bad = false;
      SourceRange wrong;
      size_t number = 0;
      for (const Item &item : value.asList()) {
        ++number;
        SourceRange place = item.range.valid() ? item.range : at;
        if (bad && place == wrong) continue; // one expression made both, and it was told
        Value converted = run(item.value, *type.element, place, "item " + llvm::Twine(number) + " of " + what);
        if (converted.isPoison()) {
          bad = true;
          wrong = place;
        }
        items.push_back({converted, item.range});
      }
      return bad ? fail() : Value::list(compilation.arena.copy<Item>(items));
    }
    case K::Map: {
      if (!value.is(ValueKind::Block)) return mismatch(value, type, at, what);
      if (type.element->kind == K::Any) return value;
      const BlockValue &block = value.asBlock();
      llvm::SmallVector<Entry, 16> entries;
      bool bad = false;
      for (const Entry &entry : block.entries) {
        Entry copy = entry;
        // Null takes a key away; whether there was one is judged where blocks merge.
        if (!entry.value.isNull() || type.element->kind == K::Optional)
          copy.value = run(entry.value, *type.element, entry.range, "`" + entry.key + "` in " + what);
        bad |= copy.value.isPoison();
        entries.push_back(copy);
      }
      if (bad) return fail();
      BlockValue *result = compilation.arena.make<BlockValue>(block);
      result->entries = compilation.arena.copy<Entry>(entries);
      return Value::block(result);
    }
    case K::Choice: return choice(value, type, at, what);
    case K::Record: return record(value, type, at, what);
    }
    return value;
  }

  Value choice(const Value &value, const Type &type, SourceRange at, const llvm::Twine &what) {
    if (value.is(ValueKind::String) && llvm::is_contained(type.strings, value.asString())) return value;
    const Type *fits = nullptr;
    for (const Type *other : type.others)
      if (accepts(*other, value)) return run(value, *other, at, what);
    // Of the right sort but out of bounds, or with a wrong part: that alternative has the better words.
    for (const Type *other : type.others) {
      bool sameSort = (other->kind == K::Int && value.is(ValueKind::Int)) || (other->kind == K::Float && (value.is(ValueKind::Float) || value.is(ValueKind::Int))) ||
                      (other->kind == K::List && value.is(ValueKind::List)) || (other->kind == K::Duration && value.is(ValueKind::Duration)) ||
                      (other->kind == K::Amount && value.is(ValueKind::Amount)) ||
                      ((other->kind == K::Record || other->kind == K::Map) && value.is(ValueKind::Block));
      if (sameSort && !fits) fits = other;
    }
    if (fits) return run(value, *fits, at, what);
    if (!value.is(ValueKind::String) || type.strings.empty()) return mismatch(value, type, at, what);
    failed = true;
    if (silent) return Value::poison();
    std::string place = what.str(), found = show(value, 40), want = wanted(type);
    auto report = compilation.diags.report(at, diag::NotAChoice{.what = place, .value = found, .wanted = want});
    StringRef near = nearestName(value.asString(), type.strings);
    if (!near.empty()) {
      std::string quoted = show(Value::string(near));
      if (at.valid() && compilation.sources.text(at).startswith("\""))
        report.fixit(at, quoted, diag::DidYouMean{.name = quoted});
      else
        report.note(diag::DidYouMean{.name = quoted});
    }
    return Value::poison();
  }

  Value record(const Value &value, const Type &type, SourceRange at, const llvm::Twine &what) {
    if (!value.is(ValueKind::Block)) return mismatch(value, type, at, what);
    const BlockValue &block = value.asBlock();
    llvm::SmallVector<Entry, 16> entries;
    bool bad = false;
    for (const Entry &entry : block.entries) {
      const RecordMember *member = nullptr;
      for (const RecordMember &candidate : type.members)
        if (candidate.name == entry.key) member = &candidate;
      if (!member || !entry.name.empty()) {
        bad = failed = true;
        if (silent) return Value::poison();
        llvm::SmallVector<StringRef, 16> names;
        for (const RecordMember &candidate : type.members) names.push_back(candidate.name);
        std::string place = type.name.empty() ? what.str() : "`" + type.name.str() + "`";
        auto report = compilation.diags.report(entry.keyRange, diag::UnknownMember{.field = entry.key, .block = place});
        StringRef near = nearestName(entry.key, names);
        if (!near.empty()) report.fixit(entry.keyRange, near, diag::DidYouMean{.name = near});
        continue;
      }
      Entry copy = entry;
      if (entry.value.isNull() && member->type->kind != K::Optional && !member->required) {
        copy.value = member->fallback; // unset: the default holds
        if (copy.value.isPoison()) continue;
      } else {
        copy.value = run(entry.value, *member->type, entry.range, "`" + entry.key + "`");
      }
      bad |= copy.value.isPoison();
      entries.push_back(copy);
    }
    for (const RecordMember &member : type.members) {
      if (llvm::any_of(block.entries, [&](const Entry &entry) { return entry.key == member.name; })) continue;
      if (member.required) {
        bad = failed = true;
        if (silent) return Value::poison();
        std::string place = what.str();
        compilation.diags.report(at, diag::MissingMember{.what = place, .field = member.name});
      } else if (!member.fallback.isPoison()) {
        Entry entry;
        entry.key = member.name;
        entry.keyRange = entry.range = member.range;
        entry.value = member.fallback;
        entries.push_back(entry);
      }
    }
    if (bad) return fail();
    BlockValue *result = compilation.arena.make<BlockValue>(block);
    result->entries = compilation.arena.copy<Entry>(entries);
    return Value::block(result);
  }
};

} // namespace

std::string typeText(const Type &type) {
  std::string result;
  append(result, type, 0);
  return result;
}

std::string wantedText(const Type &type) { return wanted(type); }

Value convert(const Value &value, const Type &type, SourceRange at, const llvm::Twine &what, Compilation &compilation) {
  return Converter{compilation, false}.run(value, type, at, what);
}

bool accepts(const Type &type, const Value &value) {
  switch (type.kind) {
  case K::Error:
  case K::Any: return true;
  case K::Bool: return value.is(ValueKind::Bool);
  case K::String: return value.is(ValueKind::String);
  case K::Source: return value.is(ValueKind::Source);
  case K::Block: return value.is(ValueKind::Block);
  case K::Optional: return value.isNull() || accepts(*type.element, value);
  case K::Ref:
    return (value.is(ValueKind::Ref) && value.asRef().kind == type.name) ||
           (value.is(ValueKind::Block) && (!value.asBlock().from || value.asBlock().from->kind == type.name));
  case K::Int:
  case K::Float:
  case K::Amount:
  case K::Duration: {
    bool kind = (type.kind == K::Int && value.is(ValueKind::Int)) || (type.kind == K::Duration && value.is(ValueKind::Duration)) ||
                (type.kind == K::Float && (value.is(ValueKind::Int) || value.is(ValueKind::Float))) ||
                (type.kind == K::Amount && (value.is(ValueKind::Amount) || value.is(ValueKind::Int) || value.is(ValueKind::Float)));
    if (!kind) return false;
    if (type.kind == K::Amount && !value.is(ValueKind::Amount)) return true; // its bounds are judged once it is converted
    return (type.min.isPoison() || (type.above ? compare(value, type.min) > 0 : compare(value, type.min) >= 0)) &&
           (type.max.isPoison() || compare(value, type.max) <= 0);
  }
  case K::List:
    return value.is(ValueKind::List) && llvm::all_of(value.asList(), [&](const Item &item) { return accepts(*type.element, item.value); });
  case K::Map:
    return value.is(ValueKind::Block) &&
           llvm::all_of(value.asBlock().entries, [&](const Entry &entry) { return entry.value.isNull() || accepts(*type.element, entry.value); });
  case K::Choice:
    return (value.is(ValueKind::String) && llvm::is_contained(type.strings, value.asString())) ||
           llvm::any_of(type.others, [&](const Type *other) { return accepts(*other, value); });
  case K::Record: {
    if (!value.is(ValueKind::Block)) return false;
    for (const Entry &entry : value.asBlock().entries) {
      auto member = llvm::find_if(type.members, [&](const RecordMember &candidate) { return candidate.name == entry.key; });
      if (member == type.members.end() || !accepts(*member->type, entry.value)) return false;
    }
    return llvm::all_of(type.members, [&](const RecordMember &member) { return !member.required || value.asBlock().find(member.name); });
  }
  }
  return false;
}

StringRef nearestName(StringRef name, ArrayRef<StringRef> candidates) {
  // Case and `_` against nothing count little: `numNodes` and `num_nodes` are one name to a tired eye.
  auto plain = [](StringRef text) {
    std::string result;
    for (char c : text)
      if (c != '_' && c != '-') result += llvm::toLower(c);
    return result;
  };
  const std::string wanted = plain(name);
  StringRef best;
  size_t bestDistance = ~size_t{0};
  std::vector<size_t> before2, before, now;
  for (StringRef candidate : candidates) {
    if (candidate == name) continue;
    const std::string other = plain(candidate);
    // No slip in names of two letters, one in short ones, about a third of what is long. A suggestion that shares less with
    // what was written is noise.
    const size_t size = std::max(wanted.size(), other.size());
    const size_t limit = size <= 2 ? 0 : size < 5 ? 1 : size < 7 ? 2 : std::max(size / 3, size_t(3));
    if (std::max(wanted.size(), other.size()) - std::min(wanted.size(), other.size()) > limit) continue;
    // Optimal string alignment: a swap of two neighbours is one slip.
    before2.clear();
    before.resize(other.size() + 1);
    now.resize(other.size() + 1);
    for (size_t j = 0; j <= other.size(); ++j) before[j] = j;
    for (size_t i = 1; i <= wanted.size(); ++i) {
      now[0] = i;
      for (size_t j = 1; j <= other.size(); ++j) {
        now[j] = std::min({before[j] + 1, now[j - 1] + 1, before[j - 1] + (wanted[i - 1] != other[j - 1])});
        if (i > 1 && j > 1 && wanted[i - 1] == other[j - 2] && wanted[i - 2] == other[j - 1]) now[j] = std::min(now[j], before2[j - 2] + 1);
      }
      before2 = before;
      std::swap(before, now);
    }
    const size_t distance = before[other.size()];
    if (distance > limit || distance > bestDistance) continue;
    // Of equals the first by alphabet: candidates come in any order.
    if (distance == bestDistance && !(candidate < best)) continue;
    bestDistance = distance;
    best = candidate;
  }
  return best;
}

} // namespace kft::sema
