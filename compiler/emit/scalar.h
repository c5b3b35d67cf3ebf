// What both writers need to know of characters and numbers.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace kft::emit {

struct Character {
  uint32_t code; // U+FFFD where the bytes are no UTF-8
  unsigned size; // bytes it took, at least 1
};

// The character at the start of `text`, which is not empty.
Character firstCharacter(llvm::StringRef text);

// Shortest decimal that reads back as the same number, always with a dot: YAML 1.1 takes `1e-05` for text. `value` is finite.
std::string floatText(double value);

} // namespace kft::emit
