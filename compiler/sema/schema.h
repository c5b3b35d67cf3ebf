// The one table of kinds and fields (schema.def), as a data structure: parser-independent facts that typing, suggestions,
// completion, documentation and highlighting are made from.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace kft::sema::schema {

using llvm::ArrayRef;
using llvm::StringRef;

struct Field {
  StringRef name;
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
  ArrayRef<Field> fields;
  const Field *find(StringRef name) const;
};

ArrayRef<Block> blocks();
const Block *find(StringRef block);
// Names that mean something else nowhere: the kinds, and `sweep` and `workflow`, which are reserved.
bool isKindName(StringRef name);
// The best near miss among `candidates`, or empty.
StringRef nearest(StringRef name, ArrayRef<StringRef> candidates);

} // namespace kft::sema::schema
