// The standard library's text, compiled into the binary from stdlib/*.kft.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace kft::stdlib {

// Of `nn`; a null StringRef when there is no such module.
llvm::StringRef source(llvm::StringRef name);
// In alphabetical order.
llvm::ArrayRef<llvm::StringRef> names();

} // namespace kft::stdlib
