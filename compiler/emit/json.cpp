#include "compiler/emit/emit.h"
#include "compiler/emit/scalar.h"

#include <cstdio>

namespace kft::emit {

namespace {

using ir::Tree;

void quoted(std::string &out, llvm::StringRef text) {
  out += '"';
  while (!text.empty()) {
    // Whole runs at once: most texts have nothing to escape.
    const size_t plain = text.find_if([](char c) { return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E || c == '"' || c == '\\'; });
    out.append(text.data(), std::min(plain, text.size()));
    if (plain >= text.size()) break;
    text = text.drop_front(plain);
    const Character character = firstCharacter(text);
    char escape[8];
    switch (character.code) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    case 0xFFFD: out += "\xEF\xBF\xBD"; break;
    default:
      if (character.code < 0xA0) { // control characters
        std::snprintf(escape, sizeof escape, "\\u%04x", character.code);
        out += escape;
      } else {
        out.append(text.data(), character.size);
      }
    }
    text = text.drop_front(character.size);
  }
  out += '"';
}

void write(std::string &out, const Tree &tree, size_t indent) {
  switch (tree.kind) {
  case Tree::Kind::Null: out += "null"; return;
  case Tree::Kind::Bool: out += tree.boolean ? "true" : "false"; return;
  case Tree::Kind::Int: out += std::to_string(tree.integer); return;
  case Tree::Kind::Float: out += floatText(tree.number); return;
  case Tree::Kind::String: quoted(out, tree.text); return;
  case Tree::Kind::List:
  case Tree::Kind::Map: break;
  }
  const char *brackets = tree.isMap() ? "{}" : "[]";
  out += brackets[0];
  bool isFirst = true;
  auto next = [&] {
    out += isFirst ? "\n" : ",\n";
    isFirst = false;
    out.append(indent + 2, ' ');
  };
  for (const Tree &item : tree.items) {
    next();
    write(out, item, indent + 2);
  }
  for (const auto &[key, value] : tree.fields) {
    next();
    quoted(out, key);
    out += ": ";
    write(out, value, indent + 2);
  }
  if (!isFirst) (out += '\n').append(indent, ' ');
  out += brackets[1];
}

} // namespace

std::string json(const Tree &tree) {
  std::string out;
  write(out, tree, 0);
  out += '\n';
  return out;
}

std::string json(llvm::ArrayRef<target::Object> objects) {
  std::string out = "[";
  for (const target::Object &object : objects) {
    out += &object == objects.begin() ? "\n  " : ",\n  ";
    write(out, object.root, 2);
  }
  out += objects.empty() ? "]\n" : "\n]\n";
  return out;
}

} // namespace kft::emit
