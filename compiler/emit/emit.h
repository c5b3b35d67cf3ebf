// Tree to text. No user error is left to find here; same objects, same bytes. Quoting rules live in this folder only.
#pragma once

#include "compiler/target/object.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace kft::emit {

// Documents divided by `---`. A string is quoted exactly when YAML 1.1 or 1.2 would read it as something else.
std::string yaml(llvm::ArrayRef<target::Object> objects);
// One JSON array of objects, two blanks of indentation, a newline at the end.
std::string json(llvm::ArrayRef<target::Object> objects);
std::string json(const ir::Tree &tree);
std::string yaml(const ir::Tree &tree);

} // namespace kft::emit
