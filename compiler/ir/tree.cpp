#include "compiler/ir/job.h"

namespace kft::ir {

const Tree *Tree::find(const std::string &key) const {
  for (const auto &[name, value] : fields)
    if (name == key) return &value;
  return nullptr;
}

Tree *Tree::find(const std::string &key) { return const_cast<Tree *>(static_cast<const Tree *>(this)->find(key)); }

Tree &Tree::operator[](const std::string &key) {
  if (kind == Kind::Null) kind = Kind::Map;
  if (Tree *known = find(key)) return *known;
  return fields.emplace_back(key, Tree()).second;
}

bool Tree::operator==(const Tree &other) const {
  if (kind != other.kind) return false;
  switch (kind) {
  case Kind::Null: return true;
  case Kind::Bool: return boolean == other.boolean;
  case Kind::Int: return integer == other.integer;
  case Kind::Float: return number == other.number;
  case Kind::String: return text == other.text;
  case Kind::List: return items == other.items;
  case Kind::Map: return fields == other.fields;
  }
  return false;
}

const Tree *Spec::arg(const std::string &key) const {
  for (const auto &[name, value] : args)
    if (name == key) return &value;
  return nullptr;
}

} // namespace kft::ir
