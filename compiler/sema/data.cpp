#include "compiler/sema/data.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"

#include <cmath>

namespace kft::sema::data {

namespace {

void quote(std::string &out, StringRef text) {
  static const char hex[] = "0123456789abcdef";
  out += '"';
  for (char c : text) {
    switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default:
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
        out += "\\u00";
        out += hex[(c >> 4) & 15];
        out += hex[c & 15];
      } else {
        out += c;
      }
    }
  }
  out += '"';
}

// Text that no reader of YAML 1.1 or 1.2 takes for anything else.
bool plain(StringRef text) {
  if (text.empty() || text.size() > 200 || !llvm::isAlpha(text[0])) return false;
  if (!llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.' || c == '/'; })) return false;
  return !llvm::StringSwitch<bool>(text.lower())
              .Cases("null", "true", "false", "yes", "no", "on", "off", "y", "n", true)
              .Case("inf", true)
              .Case("nan", true)
              .Default(false);
}

bool scalar(const Value &value, std::string &out) {
  switch (value.kind()) {
  case ValueKind::Null: out += "null"; return true;
  case ValueKind::Bool: out += value.asBool() ? "true" : "false"; return true;
  case ValueKind::Int: out += std::to_string(value.asInt()); return true;
  case ValueKind::Float: out += floatText(value.asFloat()); return true;
  default: return false;
  }
}

// What is text in both formats: amounts and durations have no form of their own.
bool textOf(const Value &value, std::string &out) {
  switch (value.kind()) {
  case ValueKind::String: out = value.asString().str(); return true;
  case ValueKind::Amount: out = value.asAmount().str(); return true;
  case ValueKind::Duration: out = durationText(value.asMilliseconds()); return true;
  default: return false;
  }
}

StringRef keyOf(const Entry &entry) { return entry.name.empty() ? entry.key : entry.name; }

bool yamlNode(const Value &value, std::string &out, unsigned indent, bool afterDash) {
  std::string text;
  if (textOf(value, text)) {
    if (plain(text))
      out += text;
    else
      quote(out, text);
    out += '\n';
    return true;
  }
  if (scalar(value, out)) {
    out += '\n';
    return true;
  }
  bool first = true;
  if (value.is(ValueKind::List)) {
    if (value.asList().empty()) {
      out += "[]\n";
      return true;
    }
    for (const Item &item : value.asList()) {
      if (!(first && afterDash)) out.append(indent, ' ');
      first = false;
      out += "- ";
      if (!yamlNode(item.value, out, indent + 2, true)) return false;
    }
    return true;
  }
  if (!value.is(ValueKind::Block)) return false;
  bool any = false;
  for (const Entry &entry : value.asBlock().entries) {
    if (!(first && afterDash)) out.append(indent, ' ');
    first = false;
    any = true;
    StringRef key = keyOf(entry);
    if (plain(key))
      out += key;
    else
      quote(out, key);
    out += ':';
    bool nested = (entry.value.is(ValueKind::Block) && !entry.value.asBlock().entries.empty()) ||
                  (entry.value.is(ValueKind::List) && !entry.value.asList().empty());
    out += nested ? '\n' : ' ';
    if (!yamlNode(entry.value, out, indent + 2, false)) return false;
  }
  if (!any) out += "{}\n";
  return true;
}

constexpr int MaxDepth = 200;

class JsonParser {
public:
  JsonParser(StringRef text, FileId file, SourceRange at, Arena &arena, uint64_t &elements, ParseError &error)
      : text_(text), file_(file), at_(at), arena_(arena), elements_(elements), error_(error) {}

  std::optional<Value> run() {
    if (text_.startswith("\xEF\xBB\xBF")) pos_ = 3;
    Value result;
    if (!value(result, 0)) return std::nullopt;
    space();
    if (pos_ != text_.size()) {
      fail("there is text after the value");
      return std::nullopt;
    }
    return result;
  }

private:
  StringRef text_;
  FileId file_;
  SourceRange at_;
  Arena &arena_;
  uint64_t &elements_;
  ParseError &error_;
  size_t pos_ = 0;

  bool fail(const char *message) {
    error_.message = message;
    error_.offset = static_cast<uint32_t>(pos_);
    return false;
  }
  void space() {
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t' || text_[pos_] == '\n' || text_[pos_] == '\r')) ++pos_;
  }
  SourceRange range(size_t begin) const {
    return file_.valid() ? SourceRange{file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(pos_)} : at_;
  }
  bool spend() {
    if (elements_ == 0) return fail("it has more than 10 million elements");
    --elements_;
    return true;
  }

  bool value(Value &out, int depth) {
    space();
    if (depth > MaxDepth) return fail("it is nested deeper than 200");
    if (!spend()) return false;
    if (pos_ == text_.size()) return fail("a value is missing");
    char c = text_[pos_];
    if (c == '{') return object(out, depth);
    if (c == '[') return array(out, depth);
    if (c == '"') {
      StringRef text;
      if (!string(text)) return false;
      out = Value::string(text);
      return true;
    }
    StringRef rest = text_.drop_front(pos_);
    for (auto [word, result] : {std::pair<StringRef, Value>{"true", Value::boolean(true)}, {"false", Value::boolean(false)}, {"null", Value::null()}})
      if (rest.startswith(word)) {
        pos_ += word.size();
        out = result;
        return true;
      }
    return number(out);
  }

  bool number(Value &out) {
    size_t begin = pos_;
    bool whole = true;
    if (pos_ < text_.size() && text_[pos_] == '-') ++pos_;
    size_t digits = pos_;
    while (pos_ < text_.size() && llvm::isDigit(text_[pos_])) ++pos_;
    if (pos_ == digits) {
      pos_ = begin;
      return fail("this is no JSON value");
    }
    if (text_[digits] == '0' && pos_ - digits > 1) {
      pos_ = digits;
      return fail("a number does not start with 0");
    }
    if (pos_ < text_.size() && text_[pos_] == '.') {
      whole = false;
      size_t point = ++pos_;
      while (pos_ < text_.size() && llvm::isDigit(text_[pos_])) ++pos_;
      if (pos_ == point) return fail("digits are missing after the point");
    }
    if (pos_ < text_.size() && (text_[pos_] == 'e' || text_[pos_] == 'E')) {
      whole = false;
      ++pos_;
      if (pos_ < text_.size() && (text_[pos_] == '+' || text_[pos_] == '-')) ++pos_;
      size_t exponent = pos_;
      while (pos_ < text_.size() && llvm::isDigit(text_[pos_])) ++pos_;
      if (pos_ == exponent) return fail("the exponent has no digits");
    }
    StringRef digitsText = text_.slice(begin, pos_);
    int64_t integer;
    double real;
    if (whole && !digitsText.getAsInteger(10, integer)) {
      out = Value::integer(integer);
      return true;
    }
    if (whole) {
      pos_ = begin;
      return fail("the number does not fit into 64 bits");
    }
    if (digitsText.getAsDouble(real) || !std::isfinite(real)) {
      pos_ = begin;
      return fail("the number is too large");
    }
    out = Value::number(real);
    return true;
  }

  bool string(StringRef &out) {
    ++pos_;
    std::string result;
    while (true) {
      if (pos_ >= text_.size()) return fail("the string does not end");
      char c = text_[pos_];
      if (c == '"') {
        ++pos_;
        break;
      }
      if (static_cast<unsigned char>(c) < 0x20) return fail("a control character stands in a string");
      if (c != '\\') {
        result += c;
        ++pos_;
        continue;
      }
      if (++pos_ >= text_.size()) return fail("the string does not end");
      switch (text_[pos_++]) {
      case '"': result += '"'; break;
      case '\\': result += '\\'; break;
      case '/': result += '/'; break;
      case 'b': result += '\b'; break;
      case 'f': result += '\f'; break;
      case 'n': result += '\n'; break;
      case 'r': result += '\r'; break;
      case 't': result += '\t'; break;
      case 'u': {
        uint32_t code;
        if (!hex(code)) return false;
        if (code >= 0xD800 && code < 0xDC00) {
          uint32_t low;
          if (!text_.drop_front(pos_).startswith("\\u")) return fail("half a surrogate pair");
          pos_ += 2;
          if (!hex(low)) return false;
          if (low < 0xDC00 || low > 0xDFFF) return fail("half a surrogate pair");
          code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        } else if (code >= 0xDC00 && code < 0xE000) {
          return fail("half a surrogate pair");
        }
        char buffer[4];
        char *end = buffer;
        llvm::ConvertCodePointToUTF8(code, end);
        result.append(buffer, end);
        break;
      }
      default: --pos_; return fail("unknown escape in a string");
      }
    }
    out = arena_.save(result);
    return true;
  }

  bool hex(uint32_t &code) {
    StringRef digits = text_.substr(pos_, 4);
    if (digits.size() < 4 || digits.getAsInteger(16, code)) return fail("`\\u` needs four hexadecimal digits");
    pos_ += 4;
    return true;
  }

  bool array(Value &out, int depth) {
    ++pos_;
    llvm::SmallVector<Item, 8> items;
    space();
    if (pos_ < text_.size() && text_[pos_] == ']') {
      ++pos_;
      out = Value::list({});
      return true;
    }
    while (true) {
      space();
      size_t begin = pos_;
      Value item;
      if (!value(item, depth + 1)) return false;
      items.push_back({item, range(begin)});
      space();
      if (pos_ < text_.size() && text_[pos_] == ',') {
        ++pos_;
        continue;
      }
      if (pos_ < text_.size() && text_[pos_] == ']') break;
      return fail("`,` or `]` is missing");
    }
    ++pos_;
    out = Value::list(arena_.copy<Item>(items));
    return true;
  }

  bool object(Value &out, int depth) {
    size_t start = pos_++;
    llvm::SmallVector<Entry, 8> entries;
    llvm::DenseMap<StringRef, bool> seen;
    space();
    bool empty = pos_ < text_.size() && text_[pos_] == '}';
    while (!empty) {
      space();
      size_t begin = pos_;
      if (pos_ >= text_.size() || text_[pos_] != '"') return fail("a key in quotes is missing");
      Entry entry;
      if (!string(entry.key)) return false;
      entry.keyRange = range(begin);
      entry.quoted = true;
      if (!seen.try_emplace(entry.key, true).second) {
        pos_ = begin;
        return fail("the key is given twice");
      }
      space();
      if (pos_ >= text_.size() || text_[pos_] != ':') return fail("`:` is missing");
      ++pos_;
      space();
      begin = pos_;
      if (!value(entry.value, depth + 1)) return false;
      entry.range = range(begin);
      entries.push_back(entry);
      space();
      if (pos_ < text_.size() && text_[pos_] == ',') {
        ++pos_;
        continue;
      }
      if (pos_ < text_.size() && text_[pos_] == '}') break;
      return fail("`,` or `}` is missing");
    }
    ++pos_;
    BlockValue *block = arena_.make<BlockValue>();
    block->entries = arena_.copy<Entry>(entries);
    block->range = range(start);
    out = Value::block(block);
    return true;
  }
};

} // namespace

bool json(const Value &value, std::string &out) {
  std::string text;
  if (textOf(value, text)) {
    quote(out, text);
    return true;
  }
  if (scalar(value, out)) return true;
  bool first = true;
  if (value.is(ValueKind::List)) {
    out += '[';
    for (const Item &item : value.asList()) {
      if (!first) out += ", ";
      first = false;
      if (!json(item.value, out)) return false;
    }
    out += ']';
    return true;
  }
  if (!value.is(ValueKind::Block)) return false;
  out += '{';
  for (const Entry &entry : value.asBlock().entries) {
    if (!first) out += ", ";
    first = false;
    quote(out, keyOf(entry));
    out += ": ";
    if (!json(entry.value, out)) return false;
  }
  out += '}';
  return true;
}

bool yaml(const Value &value, std::string &out) { return yamlNode(value, out, 0, false); }

std::optional<Value> parseJson(StringRef text, FileId file, SourceRange at, Arena &arena, uint64_t &elements, ParseError &error) {
  if (!isText(text, error)) return std::nullopt;
  return JsonParser(text, file, at, arena, elements, error).run();
}

bool isText(StringRef text, ParseError &error) {
  size_t bad = 0;
  if (!llvm::json::isUTF8(text, &bad)) {
    error.message = "it has a byte that is no UTF-8";
  } else if (bad = text.find('\0'); bad != StringRef::npos) {
    error.message = "it has a NUL byte";
  } else {
    return true;
  }
  error.offset = static_cast<uint32_t>(bad);
  return false;
}

} // namespace kft::sema::data
