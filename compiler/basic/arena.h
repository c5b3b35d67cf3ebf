// Memory for everything that lives as long as a Compilation: nodes, names, child lists. Nothing in it is ever destroyed,
// so what it holds must need no destructor.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"

#include <memory>
#include <type_traits>

namespace kft {

class Arena {
public:
  template <typename T, typename... Args>
  T *make(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>, "arena nodes are never destroyed");
    return new (allocator_.Allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  template <typename T>
  llvm::ArrayRef<T> copy(llvm::ArrayRef<T> items) {
    static_assert(std::is_trivially_destructible_v<T>, "arena nodes are never destroyed");
    if (items.empty()) return {};
    T *memory = static_cast<T *>(allocator_.Allocate(sizeof(T) * items.size(), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), memory);
    return {memory, items.size()};
  }

  llvm::StringRef save(llvm::StringRef text) {
    if (text.empty()) return llvm::StringRef("", 0);
    char *memory = static_cast<char *>(allocator_.Allocate(text.size(), 1));
    std::uninitialized_copy(text.begin(), text.end(), memory);
    return {memory, text.size()};
  }

  size_t bytes() const { return allocator_.getTotalMemory(); }

private:
  llvm::BumpPtrAllocator allocator_;
};

} // namespace kft
