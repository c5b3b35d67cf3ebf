#include "runtime/data/shard.h"
#include "runtime/plan/error.h"

#include <gtest/gtest.h>
#include <vector>

using namespace kft::run;

TEST(Permutation, IsABijection) {
  for (uint64_t size : {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 100, 1437, 4096, 100003})
    for (uint64_t key : {0ull, 1ull, 0xfeedull}) {
      Permutation permutation(size, key);
      std::vector<bool> seen(size);
      for (uint64_t i = 0; i < size; ++i) {
        uint64_t value = permutation(i);
        ASSERT_LT(value, size);
        ASSERT_FALSE(seen[value]) << size << " " << key << " " << i;
        seen[value] = true;
      }
    }
}

TEST(Permutation, MixesAndDependsOnTheKey) {
  const uint64_t size = 10000;
  Permutation first(size, 1), second(size, 2);
  int fixed = 0, same = 0, rising = 0;
  for (uint64_t i = 0; i < size; ++i) {
    fixed += first(i) == i, same += first(i) == second(i);
    if (i) rising += first(i) > first(i - 1);
  }
  // A random permutation has one of each in expectation, and rises half the time.
  EXPECT_LT(fixed, 10);
  EXPECT_LT(same, 10);
  EXPECT_NEAR(rising, 5000, 150);
}

TEST(Permutation, FirstPlaceIsUniform) {
  std::vector<int> count(10);
  for (uint64_t key = 0; key < 10000; ++key)
    ++count[Permutation(10, key * 77 + 5)(0)];
  for (int c : count)
    EXPECT_NEAR(c, 1000, 150);
}

TEST(Shard, SharesCoverEverythingOnce) {
  for (int64_t count : {0, 1, 3, 4, 7, 64, 1437})
    for (int64_t ranks : {1, 2, 3, 4, 8}) {
      int64_t at = 0;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        Slice share = shareOf(count, ranks, rank);
        EXPECT_EQ(share.begin, at);
        EXPECT_LE(share.size(), count / ranks + 1);
        at = share.end;
      }
      EXPECT_EQ(at, count);
    }
}

TEST(Shard, TestRowsAreRoundedUp) {
  EXPECT_EQ(testRowsOf(1797, 0.2), 360);
  EXPECT_EQ(testRowsOf(1795, 0.2), 359);
  EXPECT_EQ(testRowsOf(10, 0.3), 3);
  EXPECT_EQ(testRowsOf(10, 0.999), 9);
  EXPECT_EQ(testRowsOf(10, 0.0001), 1);
  EXPECT_EQ(testRowsOf(10, 0), 0);
  EXPECT_THROW(testRowsOf(1, 0.5), Error);
}

TEST(Shard, EpochsDiffer) {
  EpochOrder zero(100, true, 7, 0), one(100, true, 7, 1), plain(100, false, 7, 1);
  int same = 0;
  for (int64_t i = 0; i < 100; ++i) {
    same += zero(i) == one(i);
    EXPECT_EQ(plain(i), i);
  }
  EXPECT_LT(same, 10);
}
