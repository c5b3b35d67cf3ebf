#include "compiler/driver/print_types.h"

namespace kft::driver {

namespace {

const char *typeName(sema::ValueKind kind) {
  switch (kind) {
  case sema::ValueKind::Poison: return "error";
  case sema::ValueKind::Null: return "null";
  case sema::ValueKind::Bool: return "bool";
  case sema::ValueKind::Int: return "int";
  case sema::ValueKind::Float: return "float";
  case sema::ValueKind::String: return "string";
  case sema::ValueKind::Amount: return "amount";
  case sema::ValueKind::Duration: return "duration";
  case sema::ValueKind::List: return "list";
  case sema::ValueKind::Block: return "block";
  case sema::ValueKind::Ref: return "reference";
  case sema::ValueKind::Source: return "source";
  case sema::ValueKind::Lazy: break;
  }
  return "";
}

void print(std::string &out, const sema::Value &value, size_t indent) {
  auto newline = [&](size_t by) {
    out += '\n';
    out.append(by, ' ');
  };
  if (value.is(sema::ValueKind::Block)) {
    const sema::BlockValue &block = value.asBlock();
    if (block.entries.empty()) {
      out += "{}";
      return;
    }
    out += '{';
    for (const sema::Entry &entry : block.entries) {
      newline(indent + 2);
      out += entry.quoted ? sema::show(sema::Value::string(entry.key), SIZE_MAX) : entry.key.str();
      if (!entry.name.empty()) out += " " + entry.name.str();
      out += std::string(": ") + typeName(entry.value.kind()) + " = ";
      print(out, entry.value, indent + 2);
    }
    newline(indent);
    out += '}';
  } else if (value.is(sema::ValueKind::List) && !value.asList().empty()) {
    out += '[';
    for (const sema::Item &item : value.asList()) {
      newline(indent + 2);
      out += std::string(typeName(item.value.kind())) + " ";
      print(out, item.value, indent + 2);
    }
    newline(indent);
    out += ']';
  } else {
    out += sema::show(value, SIZE_MAX);
  }
}

} // namespace

std::string printTypes(const sema::Module &module) {
  std::string out;
  for (const sema::Decl *decl : module.decls) {
    out += (decl->isAbstract ? "@abstract " : "") + decl->kind.str() + " " + decl->name.str();
    if (!decl->kubeName.empty() && decl->kubeName != decl->name) out += " as " + decl->kubeName.str();
    out += " ";
    print(out, decl->body, 0);
    out += "\n";
  }
  return out;
}

} // namespace kft::driver
