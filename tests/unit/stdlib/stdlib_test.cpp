#include "compiler/sema/stdlib.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace kft::stdlib {
namespace {

TEST(Stdlib, HoldsTheModulesByteForByte) {
  const std::vector<llvm::StringRef> expected = {"datasets", "nn", "runtimes", "trainers"};
  ASSERT_EQ(names().vec(), expected);
  for (llvm::StringRef name : names()) {
    std::ifstream file(std::string(KFT_SOURCE_DIR "/stdlib/") + name.str() + ".kft", std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    ASSERT_FALSE(text.empty()) << name.str();
    EXPECT_EQ(source(name).str(), text) << name.str();
  }
}

TEST(Stdlib, HasNothingElse) {
  for (llvm::StringRef name : {"", "nn.kft", "Nn", "std"}) EXPECT_EQ(source(name).data(), nullptr) << name.str();
}

} // namespace
} // namespace kft::stdlib
