// Block style throughout, lists indented under their key. A text stays plain unless some reader of YAML 1.1 or 1.2 would take
// it for something else; the readers in mind are those of Go (kubectl), Python and C++, whose rules differ.
#include "compiler/emit/emit.h"
#include "compiler/emit/scalar.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace kft::emit {

namespace {

using ir::Tree;
using llvm::StringRef;

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isBlank(char c) { return c == ' ' || c == '\t'; }

// ---- what a plain text would be read as ----

bool isWord(StringRef text) {
  static constexpr StringRef Words[] = {
      "~", "null", "Null", "NULL", "y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "true", "True", "TRUE",
      "false", "False", "FALSE", "on", "On", "ON", "off", "Off", "OFF", "<<", "=", "---", "..."};
  return text.size() <= 5 && std::find(std::begin(Words), std::end(Words), text) != std::end(Words);
}

bool all(StringRef text, bool (*holds)(char)) { return !text.empty() && llvm::all_of(text, holds); }
bool isHexDigit(char c) { return llvm::isHexDigit(c) || c == '_'; }
bool isOctalDigit(char c) { return (c >= '0' && c <= '7') || c == '_'; }
bool isBinaryDigit(char c) { return c == '0' || c == '1' || c == '_'; }

// Integers and floats of all the schemas together: underlines anywhere (1.1), octal with 0 or 0o, hexadecimal, binary, base
// 60, a float with or without a dot and with any exponent.
bool isNumber(StringRef text) {
  if (text.startswith("+") || text.startswith("-")) text = text.drop_front();
  if (text.empty()) return false;
  if (text == ".inf" || text == ".Inf" || text == ".INF" || text == ".nan" || text == ".NaN" || text == ".NAN") return true;
  if (!isDigit(text[0]) && !(text[0] == '.' && text.size() > 1 && (isDigit(text[1]) || text[1] == '_'))) return false;
  if (text.size() > 2 && text[0] == '0') {
    const StringRef digits = text.drop_front(2);
    switch (text[1]) {
    case 'x': case 'X': return all(digits, isHexDigit);
    case 'b': case 'B': return all(digits, isBinaryDigit);
    case 'o': case 'O': return all(digits, isOctalDigit);
    default: break;
    }
  }
  std::string without;
  if (text.contains('_')) {
    std::copy_if(text.begin(), text.end(), std::back_inserter(without), [](char c) { return c != '_'; });
    text = without;
  }
  StringRef rest = text.drop_while(isDigit);
  if (rest.empty()) return true;
  if (rest[0] == ':') { // 12:30, 1:02:03.5
    while (rest.consume_front(":")) {
      const StringRef digits = rest.take_while(isDigit);
      if (digits.empty() || digits.size() > 2 || (digits.size() == 2 && digits[0] > '5')) return false;
      rest = rest.drop_front(digits.size());
    }
    return rest.empty() || (rest.consume_front(".") && rest.drop_while(isDigit).empty());
  }
  if (rest.consume_front(".")) rest = rest.drop_while(isDigit);
  if (rest.consume_front("e") || rest.consume_front("E")) {
    if (rest.startswith("+") || rest.startswith("-")) rest = rest.drop_front();
    return all(rest, isDigit);
  }
  return rest.empty();
}

// 2001-12-14, also with a time behind it.
bool isTimestamp(StringRef text) {
  auto digits = [&](size_t least, size_t most) {
    const size_t count = text.take_while(isDigit).size();
    text = text.drop_front(count);
    return count >= least && count <= most;
  };
  if (!digits(4, 4) || !text.consume_front("-") || !digits(1, 2) || !text.consume_front("-") || !digits(1, 2)) return false;
  if (text.empty()) return true;
  if (text[0] != 'T' && text[0] != 't' && !isBlank(text[0])) return false;
  text = text.drop_front().ltrim(" \t");
  return digits(1, 2) && text.startswith(":");
}

bool isReadAsOther(StringRef text) {
  switch (text[0]) {
  case '~': case '<': case '=': case 'n': case 'N': case 'y': case 'Y': case 't': case 'T': case 'f': case 'F': case 'o': case 'O':
    return isWord(text);
  case '+': case '-': case '.': return isWord(text) || isNumber(text);
  default: return isDigit(text[0]) && (isNumber(text) || isTimestamp(text));
  }
}

// ---- how a text is written ----

enum class Style : uint8_t { Plain, Single, Double, Literal };

bool needsEscape(uint32_t code) {
  // Control characters, the line ends that only YAML 1.1 knows, the byte order mark, non-characters.
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 || code == 0xFEFF || (code & 0xFFFE) == 0xFFFE || code == 0xFFFD;
}

// Round-trips as a `|` block whose indentation a reader finds by itself.
bool fitsLiteral(StringRef text) {
  if (text[0] == '\n' || isBlank(text[0])) return false;
  for (size_t end = text.find('\n'); end != StringRef::npos; end = text.find('\n', end + 1))
    if (end > 0 && isBlank(text[end - 1])) return false; // nobody would see it
  return !isBlank(text.back());
}

Style styleOf(StringRef text, bool isKey) {
  if (text.empty()) return Style::Double;
  bool isPlain = true, hasEscapes = false, hasLines = false, hasTabs = false, hasQuotes = false;
  for (size_t i = 0; i < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c < 0x7F) {
      if (c == ':' && (i + 1 == text.size() || text[i + 1] == ' ')) isPlain = false;
      if (c == '#' && i > 0 && text[i - 1] == ' ') isPlain = false;
      hasQuotes |= c == '"' || c == '\\';
      ++i;
    } else if (c == '\n') {
      hasLines = true;
      ++i;
    } else if (c == '\t') {
      hasTabs = true;
      ++i;
    } else {
      const Character character = firstCharacter(text.drop_front(i));
      hasEscapes |= needsEscape(character.code);
      i += character.size;
    }
  }
  if (hasEscapes) return Style::Double;
  if (hasLines) return !isKey && fitsLiteral(text) ? Style::Literal : Style::Double;
  if (hasTabs) return Style::Double;
  if (isPlain) {
    const char first = text[0];
    const char second = text.size() > 1 ? text[1] : ' ';
    if (StringRef(",[]{}#&*!|>'\"%@`").contains(first)) isPlain = false;
    if ((first == '-' || first == '?' || first == ':') && second == ' ') isPlain = false;
    if (first == ' ' || text.back() == ' ') isPlain = false;
    if ((text.startswith("---") || text.startswith("...")) && text.size() > 3 && text[3] == ' ') isPlain = false; // at the left edge
  }
  if (isPlain && !isReadAsOther(text)) return Style::Plain;
  return hasQuotes ? Style::Single : Style::Double;
}

void doubleQuoted(std::string &out, StringRef text) {
  out += '"';
  while (!text.empty()) {
    const Character character = firstCharacter(text);
    char escape[12];
    switch (character.code) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default:
      if (needsEscape(character.code)) {
        std::snprintf(escape, sizeof escape, character.code > 0xFFFF ? "\\U%08X" : character.code > 0xFF ? "\\u%04X" : "\\x%02X", character.code);
        out += escape;
      } else {
        out.append(text.data(), character.size);
      }
    }
    text = text.drop_front(character.size);
  }
  out += '"';
}

// `indent` is where the lines of a literal block start.
void writeText(std::string &out, StringRef text, size_t indent, bool isKey) {
  switch (styleOf(text, isKey)) {
  case Style::Plain: out.append(text.data(), text.size()); return;
  case Style::Double: doubleQuoted(out, text); return;
  case Style::Single:
    out += '\'';
    for (char c : text) out.append(c == '\'' ? 2 : 1, c);
    out += '\'';
    return;
  case Style::Literal: break;
  }
  out += '|';
  if (text.endswith("\n\n")) out += '+';
  else if (!text.endswith("\n")) out += '-';
  text.consume_back("\n");
  while (true) {
    const auto [line, rest] = text.split('\n');
    out += '\n';
    if (!line.empty()) out.append(indent, ' ').append(line.data(), line.size());
    if (line.size() == text.size()) break;
    text = rest;
  }
}

// ---- the tree ----

class Writer {
public:
  std::string out;

  void document(const Tree &tree) {
    if (isBlock(tree)) block(tree, 0);
    else scalar(tree, 2);
    out += '\n';
  }

private:
  static bool isBlock(const Tree &tree) { return !tree.items.empty() || !tree.fields.empty(); }

  void scalar(const Tree &tree, size_t indent) {
    switch (tree.kind) {
    case Tree::Kind::Null: out += "null"; return;
    case Tree::Kind::Bool: out += tree.boolean ? "true" : "false"; return;
    case Tree::Kind::Int: out += std::to_string(tree.integer); return;
    case Tree::Kind::Float: out += floatText(tree.number); return;
    case Tree::Kind::String: writeText(out, tree.text, indent, false); return;
    case Tree::Kind::List: out += "[]"; return;
    case Tree::Kind::Map: out += "{}"; return;
    }
  }

  // Starts where the first line already has its indentation, and ends without a line end.
  void block(const Tree &tree, size_t indent) {
    bool isFirst = true;
    auto line = [&] {
      if (!isFirst) (out += '\n').append(indent, ' ');
      isFirst = false;
    };
    for (const Tree &item : tree.items) {
      line();
      out += "- ";
      if (isBlock(item)) block(item, indent + 2);
      else scalar(item, indent + 2);
    }
    for (const auto &[key, value] : tree.fields) {
      line();
      writeKey(key, indent);
      if (isBlock(value)) {
        (out += '\n').append(indent + 2, ' ');
        block(value, indent + 2);
      } else {
        out += ' ';
        scalar(value, indent + 2);
      }
    }
  }

  void writeKey(StringRef key, size_t indent) {
    // A key in front of its colon may have at most 1,024 characters.
    constexpr size_t Longest = 1000;
    const size_t start = out.size();
    writeText(out, key, indent, true);
    if (out.size() - start > Longest) {
      out.insert(start, "? ");
      (out += '\n').append(indent, ' ');
    }
    out += ':';
  }
};

} // namespace

std::string yaml(const Tree &tree) {
  Writer writer;
  writer.document(tree);
  return std::move(writer.out);
}

std::string yaml(llvm::ArrayRef<target::Object> objects) {
  Writer writer;
  for (const target::Object &object : objects) {
    if (&object != objects.begin()) writer.out += "---\n";
    writer.document(object.root);
  }
  return std::move(writer.out);
}

} // namespace kft::emit
