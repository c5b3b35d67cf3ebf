// Judges an object by the table of Kubernetes fields: every name known, every type, bound, choice and list key right.
#pragma once

#include "compiler/basic/quantity.h"
#include "compiler/kube/schema.h"
#include "compiler/target/object.h"

#include <set>
#include <string>
#include <vector>

namespace kft::target {

inline void judge(const Tree &tree, const kube::Type &type, const std::string &path, std::vector<std::string> &problems) {
  using kube::Shape;
  auto wrong = [&](const std::string &text) { problems.push_back(path + ": " + text); };
  auto inBounds = [&](int64_t value) {
    if ((type.hasMin && value < type.min) || (type.hasMax && value > type.max)) wrong("out of bounds");
  };
  switch (type.shape) {
  case Shape::Object:
    if (!tree.isMap()) return wrong("no object");
    for (const auto &[key, value] : tree.fields) {
      const kube::Field *field = type.find(key);
      if (!field) wrong("unknown field " + key);
      else judge(value, *field->type, path + "." + key, problems);
    }
    for (const kube::Field &field : type.fields)
      if (field.required && !tree.find(field.name.str())) wrong("lacks " + field.name.str());
    return;
  case Shape::List: {
    if (!tree.isList()) return wrong("no list");
    inBounds(static_cast<int64_t>(tree.items.size()));
    std::set<std::string> seen;
    for (size_t i = 0; i < tree.items.size(); ++i) {
      judge(tree.items[i], *type.element, path + "[" + std::to_string(i) + "]", problems);
      std::string key;
      for (llvm::StringRef member : type.keys)
        if (const Tree *value = tree.items[i].find(member.str())) key += value->text + std::to_string(value->integer) + "\n";
      if (!type.keys.empty() && !seen.insert(key).second) wrong("two items with one key");
    }
    return;
  }
  case Shape::Map:
    if (!tree.isMap()) return wrong("no map");
    for (const auto &[key, value] : tree.fields) judge(value, *type.element, path + "." + key, problems);
    return;
  case Shape::Bool:
    if (tree.kind != Tree::Kind::Bool) wrong("no bool");
    return;
  case Shape::Int:
    if (tree.kind != Tree::Kind::Int) return wrong("no integer");
    return inBounds(tree.integer);
  case Shape::Float:
    if (tree.kind != Tree::Kind::Float && tree.kind != Tree::Kind::Int) wrong("no number");
    return;
  case Shape::Time:
  case Shape::String: {
    if (tree.kind != Tree::Kind::String) return wrong("no text");
    inBounds(static_cast<int64_t>(tree.text.size()));
    bool isChoice = type.choices.empty();
    for (llvm::StringRef choice : type.choices) isChoice |= choice == tree.text;
    if (!isChoice) wrong("no choice");
    return;
  }
  case Shape::Quantity:
    if (tree.kind == Tree::Kind::Int) return;
    if (tree.kind != Tree::Kind::String || !parseAmount(tree.text)) return wrong("no amount");
    if (parseAmount(tree.text)->str() != tree.text) wrong("amount is not canonical");
    return;
  case Shape::IntOrString:
    if (tree.kind != Tree::Kind::Int && tree.kind != Tree::Kind::String) wrong("neither number nor text");
    return;
  }
}

// The problems of an object, one text each; none when a cluster's schema would take it.
inline std::vector<std::string> problemsOf(const Object &object) {
  const kube::Kind *kind = kube::findKind(object.kind);
  if (!kind) return {"unknown kind " + object.kind};
  std::vector<std::string> problems;
  if (object.apiVersion != kind->apiVersion) problems.push_back("apiVersion is " + object.apiVersion);
  Tree spec = Tree::map();
  for (const auto &[key, value] : object.root.fields)
    if (key != "metadata") spec.set(key, value);
  const kube::Type *type = kind->type;
  for (const auto &[key, value] : spec.fields) {
    const kube::Field *field = type->find(key);
    if (!field) problems.push_back("unknown field " + key);
    else judge(value, *field->type, key, problems);
  }
  for (const char *key : {"apiVersion", "kind", "metadata", "spec"})
    if (!object.root.find(key)) problems.push_back(std::string("lacks ") + key);
  return problems;
}

} // namespace kft::target
