#include "compiler/basic/check.h"

#include <gtest/gtest.h>

namespace kft {
namespace {

TEST(CheckDeathTest, SaysWhatBrokeAndExitsWithFour) {
  int jobs = 1;
  KFT_CHECK(jobs == 1, "a true condition costs nothing");
  EXPECT_EXIT(KFT_CHECK(jobs == 2, "lower made two jobs"), testing::ExitedWithCode(4),
              "internal error: lower made two jobs\n  the check `jobs == 2` failed at tests/unit/basic/check_test.cpp:");
}

} // namespace
} // namespace kft
