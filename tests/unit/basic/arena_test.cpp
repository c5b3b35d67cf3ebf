#include "compiler/basic/arena.h"

#include <gtest/gtest.h>

#include <string>

namespace kft {
namespace {

TEST(Arena, SavesTextIndependentOfItsSource) {
  Arena arena;
  std::string text = "digits";
  llvm::StringRef saved = arena.save(text);
  text = "xxxxxx";
  EXPECT_EQ(saved, "digits");
  EXPECT_NE(arena.save("").data(), nullptr) << "empty text is still text";
}

TEST(Arena, CopiesLists) {
  Arena arena;
  llvm::ArrayRef<int> copy;
  {
    std::vector<int> items{1, 2, 3};
    copy = arena.copy(llvm::ArrayRef<int>(items));
  }
  EXPECT_EQ(copy.vec(), (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(arena.copy(llvm::ArrayRef<int>()).empty());
}

} // namespace
} // namespace kft
