// The pages behind `kftc explain KFTnnnn`, compiled into the program, and the catalogue as data.
#pragma once

#include "compiler/basic/diagnostics.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace kft::explain {

struct Row {
  int id;
  llvm::StringRef name; // UnknownField
  Severity severity;
  llvm::StringRef text; // the template
};

// Every row that can be reported, by number. Notes and retired rows are not in it.
llvm::ArrayRef<Row> catalogue();
const Row *find(int id);

// `KFT2203`, `kft2203` or `2203`.
std::optional<int> parseId(llvm::StringRef text);
std::string idText(int id); // KFT2203

// Markdown; empty when there is none.
llvm::StringRef page(int id);

} // namespace kft::explain
