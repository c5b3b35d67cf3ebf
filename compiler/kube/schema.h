// Every field of the Kubernetes objects that we write or take in, as constant data: name, type, bounds, choices, list
// keys. Made when kftc is built, from data/kubernetes.kube; looking at it costs no start-up time.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <span>
#include <string>

namespace kft::kube {

using llvm::ArrayRef;
using llvm::StringRef;

enum class Shape : uint8_t {
  Object,      // `fields`
  List,        // of `element`
  Map,         // text to `element`
  Bool,
  Int,         // within 64 bits; min and max always set
  Float,
  String,
  Quantity,    // an amount: a whole number or text such as 16Gi
  IntOrString, // a port: its number or its name
  Time,        // RFC 3339
};

struct Type;

struct Field {
  StringRef name;
  const Type *type;
  bool required;
  StringRef defaultText; // as the server fills it in; empty: none, or the empty text
};

struct Type {
  StringRef name;                  // of an object: "PodSpec"
  Shape shape;
  std::span<const Field> fields;   // Object, sorted by name
  const Type *element;             // List, Map
  bool hasMin, hasMax;
  int64_t min, max;                // of a number; of the length of a text or list
  std::span<const StringRef> choices; // String: one of these
  std::span<const StringRef> keys; // List: no two items agree in all of these members
  bool isSet;                      // List: no two items are equal

  const Field *find(StringRef name) const;
  // The member that names an item where the list is written as a block: `name`, `mountPath`, …; empty for plain lists.
  StringRef blockKey() const;
};

struct Kind {
  StringRef name, apiVersion; // "TrainJob", "trainer.kubeflow.org/v1alpha1"
  bool isNamespaced;
  const Type *type;
};

ArrayRef<Kind> kinds();
const Kind *findKind(StringRef name);
// An object by name: "PodSpec", "PodPatch", "JobSetSpec", "Container", …
const Type *find(StringRef name);
// For messages: "a list", "an amount", "true or false".
std::string describe(const Type &type);

} // namespace kft::kube
