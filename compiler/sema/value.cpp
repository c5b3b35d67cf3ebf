// How values read in messages and in interpolated text.
#include "compiler/sema/value.h"

#include "compiler/sema/module.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace kft::sema {

std::string floatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  // d.ddde±xx, the shortest digits that read back as the same number.
  llvm::StringRef text(buffer, static_cast<size_t>(end - buffer));
  bool negative = text.consume_front("-");
  auto [mantissa, exponentText] = text.split('e');
  int exponent = 0;
  exponentText.consume_front("+");
  exponentText.getAsInteger(10, exponent);
  std::string digits;
  for (char c : mantissa)
    if (c != '.') digits += c;
  std::string result = negative ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    result += digits[0];
    if (digits.size() > 1) result += "." + digits.substr(1);
    result += exponent < 0 ? "e-" : "e+";
    std::string number = std::to_string(std::abs(exponent));
    return result + (number.size() < 2 ? "0" + number : number);
  }
  if (exponent < 0) return result + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return result + digits + std::string(whole - digits.size(), '0') + ".0";
  return result + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string durationText(int64_t milliseconds) {
  if (milliseconds == 0) return "0s";
  std::string result = milliseconds < 0 ? "-" : "";
  uint64_t rest = milliseconds < 0 ? 0 - static_cast<uint64_t>(milliseconds) : static_cast<uint64_t>(milliseconds);
  struct Unit {
    uint64_t size;
    const char *name;
  };
  for (Unit unit : {Unit{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "min"}, {1000, "s"}, {1, "ms"}}) {
    if (rest >= unit.size) result += std::to_string(rest / unit.size) + unit.name;
    rest %= unit.size;
  }
  return result;
}

namespace {

void quote(std::string &out, StringRef text, size_t limit) {
  out += '"';
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    // Cut between characters, never inside one.
    if (out.size() > limit && (c & 0xC0) != 0x80) {
      out += "…";
      break;
    }
    switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\n': out += "\\n"; break;
    case '\t': out += "\\t"; break;
    case '\r': out += "\\r"; break;
    default:
      if (c < 0x20 || c == 0x7F) {
        static const char hex[] = "0123456789ABCDEF";
        out += "\\u{";
        if (c >= 16) out += hex[c >> 4];
        out += hex[c & 15];
        out += '}';
      } else {
        out += static_cast<char>(c);
      }
    }
  }
  out += '"';
}

bool isName(StringRef text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (char c : text)
    if (!(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) return false;
  return true;
}

void name(std::string &out, StringRef text) {
  if (isName(text))
    out += text;
  else
    quote(out, text, SIZE_MAX);
}

void append(std::string &out, const Value &value, size_t limit, int depth) {
  switch (value.kind()) {
  case ValueKind::Poison: out += "…"; return;
  case ValueKind::Null: out += "null"; return;
  case ValueKind::Bool: out += value.asBool() ? "true" : "false"; return;
  case ValueKind::Int: out += std::to_string(value.asInt()); return;
  case ValueKind::Float: out += floatText(value.asFloat()); return;
  case ValueKind::String: quote(out, value.asString(), limit); return;
  case ValueKind::Amount: out += value.asAmount().str(); return;
  case ValueKind::Duration: out += durationText(value.asMilliseconds()); return;
  case ValueKind::Ref:
    out += value.asRef().kind;
    out += '.';
    name(out, value.asRef().name);
    return;
  case ValueKind::Source: {
    const Source &source = value.asSource();
    static const char *const names[] = {"secret", "config", "field", "resource"};
    out += names[static_cast<int>(source.kind)];
    out += '(';
    quote(out, source.name, SIZE_MAX);
    if (!source.key.empty()) {
      out += ", key = ";
      quote(out, source.key, SIZE_MAX);
    }
    out += ')';
    return;
  }
  case ValueKind::Lazy: out += "{ … }"; return;
  case ValueKind::List: {
    out += '[';
    bool first = true;
    for (const Item &item : value.asList()) {
      if (!first) out += ", ";
      first = false;
      if (out.size() > limit || depth > 8) {
        out += "…";
        break;
      }
      append(out, item.value, limit, depth + 1);
    }
    out += ']';
    return;
  }
  case ValueKind::Block: {
    const BlockValue &block = value.asBlock();
    if (block.entries.empty()) {
      out += "{}";
      return;
    }
    out += "{ ";
    bool first = true;
    for (const Entry &entry : block.entries) {
      if (!first) out += ", ";
      first = false;
      if (out.size() > limit || depth > 8) {
        out += "…";
        break;
      }
      name(out, entry.key);
      if (!entry.name.empty()) {
        out += ' ';
        name(out, entry.name);
      }
      if (entry.value.is(ValueKind::Block)) {
        out += ' ';
      } else {
        out += " = ";
      }
      append(out, entry.value, limit, depth + 1);
    }
    out += " }";
    return;
  }
  }
}

} // namespace

std::string show(const Value &value, size_t limit) {
  std::string result;
  append(result, value, limit, 0);
  return result;
}

std::string describe(const Value &value) {
  switch (value.kind()) {
  case ValueKind::Poison: return "an unknown value";
  case ValueKind::Null: return "`null`";
  case ValueKind::Bool: return "the bool `" + show(value) + "`";
  case ValueKind::Int: return "the int `" + show(value) + "`";
  case ValueKind::Float: return "the float `" + show(value) + "`";
  case ValueKind::String: return "the string `" + show(value, 40) + "`";
  case ValueKind::Amount: return "the amount `" + show(value) + "`";
  case ValueKind::Duration: return "the duration `" + show(value) + "`";
  case ValueKind::List: return "a list";
  case ValueKind::Block:
  case ValueKind::Lazy: return "a block";
  case ValueKind::Ref: return "`" + show(value) + "`";
  case ValueKind::Source:
    return value.asSource().kind == Source::Kind::Secret ? "a secret" : "`" + show(value) + "`";
  }
  return {};
}

} // namespace kft::sema
