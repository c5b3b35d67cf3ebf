#include "runtime/launch/rank_starter.h"

#include <gtest/gtest.h>

#include <cstring>

int main(int argc, char **argv) {
  if (argc > 1 && std::strcmp(argv[1], kft::run::RankStarterArg) == 0)
    return kft::run::rankStarterMain(std::vector<std::string>(argv + 2, argv + argc));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
