// native.def as data: the layers, optimizers, schedules and formats that the native engine knows.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace kft::sema::native {

using llvm::ArrayRef;
using llvm::StringRef;

struct Argument {
  StringRef tag, spec; // "layer", "dense"
  StringRef name, type;
  StringRef defaultText; // empty: required
};
struct Spec {
  StringRef tag, name;
};

ArrayRef<Spec> specs();
const Spec *find(StringRef tag, StringRef name);
// Those of one spec, together.
ArrayRef<Argument> arguments(const Spec &spec);

} // namespace kft::sema::native
