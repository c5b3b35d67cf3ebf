#include "compiler/kube/schema.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace kft::kube {
namespace {

#include "kube_schema.inc" // Kinds[], Objects[]: made by generate.cpp

} // namespace

ArrayRef<Kind> kinds() { return Kinds; }

const Kind *findKind(StringRef name) {
  const auto *found = llvm::find_if(Kinds, [&](const Kind &kind) { return kind.name == name; });
  return found == std::end(Kinds) ? nullptr : found;
}

const Type *find(StringRef name) {
  const auto *found = llvm::lower_bound(Objects, name, [](const Type *type, StringRef wanted) { return type->name < wanted; });
  return found == std::end(Objects) || (*found)->name != name ? nullptr : *found;
}

const Field *Type::find(StringRef wanted) const {
  auto found = std::lower_bound(fields.begin(), fields.end(), wanted, [](const Field &field, StringRef name) { return field.name < name; });
  return found == fields.end() || found->name != wanted ? nullptr : &*found;
}

StringRef Type::blockKey() const {
  if (shape != Shape::List || element->shape != Shape::Object || keys.empty()) return {};
  // The schema keys a patch's mounts by `name`, the merge and the pod by `mountPath`; text is written the second way.
  if (element->find("mountPath")) return "mountPath";
  // Ports are told apart by number and protocol, but people know them by name.
  if (keys[0] == "containerPort") return "name";
  if (keys.size() == 1 && element->find(keys[0])->type->shape == Shape::String) return keys[0];
  return {};
}

std::string describe(const Type &type) {
  switch (type.shape) {
  case Shape::Object: return "a block";
  case Shape::List: return type.blockKey().empty() ? "a list" : "a list, or a block of named blocks";
  case Shape::Map: return "a block of names and values";
  case Shape::Bool: return "true or false";
  case Shape::Int: return "a whole number";
  case Shape::Float: return "a number";
  case Shape::String: return "a string";
  case Shape::Quantity: return "an amount";
  case Shape::IntOrString: return "a number or a name";
  case Shape::Time: return "a time as RFC 3339 writes it";
  }
  return {};
}

} // namespace kft::kube
