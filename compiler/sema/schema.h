// The one table of kinds and fields (schema.def), as a data structure: parser-independent facts that typing, suggestions,
// completion, documentation and highlighting are made from. It is constant data: looking at it costs no start-up time.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <span>

namespace kft::sema::schema {

using llvm::ArrayRef;
using llvm::StringRef;

enum class Form : uint8_t {
  Kind,   // stands at module level
  Nested, // a block inside another
  OneOf,  // a member's name, or a block of exactly one member
};

struct Field {
  StringRef name;         // `*`: all further names of the block
  StringRef type;         // in the small notation that schema.def explains
  StringRef defaultText;  // as it would be written in kft; empty: none
  bool required;
  StringRef applies;      // "k" only changes manifests, "n" only the native engine, "" both
  StringRef help;         // one line
};
struct Block {            // a kind, or a nested block type (resources, checkpoint, …)
  StringRef name;
  bool isKind;            // can stand at module level
  StringRef help;
  std::span<const Field> fields; // a span, because ArrayRef is no constant expression
  Form form = Form::Nested;
  const Field *find(StringRef name) const; // never the `*` row
  // The row for all names that have none of their own; null where the block is closed.
  const Field *rest() const;
};

ArrayRef<Block> blocks();
const Block *find(StringRef block);
// Names that mean something else nowhere: the kinds, and `sweep` and `workflow`, which are reserved.
bool isKindName(StringRef name);

// The argument of a type such as `block<resources>` when `type` is `head<…>`; empty otherwise.
StringRef argument(StringRef type, StringRef head);

} // namespace kft::sema::schema
