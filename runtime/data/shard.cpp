#include "runtime/data/shard.h"
#include "runtime/plan/error.h"
#include "runtime/tensor/random.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kft::run {

Permutation::Permutation(uint64_t size, uint64_t key) : size_(size) {
  int bits = size > 1 ? std::bit_width(size - 1) : 1;
  leftBits_ = bits / 2, rightBits_ = bits - leftBits_;
  for (int i = 0; i < 2 * Rounds; ++i)
    keys_[i] = randomBits(key, uint64_t(i));
}

uint64_t Permutation::operator()(uint64_t index) const {
  const uint64_t leftMask = (uint64_t(1) << leftBits_) - 1, rightMask = (uint64_t(1) << rightBits_) - 1;
  auto scramble = [](uint64_t x, uint64_t key) {
    x = (x + key) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 32) * 0x94d049bb133111eb;
    return x >> 32;
  };
  do {
    uint64_t left = index >> rightBits_, right = index & rightMask;
    for (int i = 0; i < Rounds; ++i) {
      left ^= scramble(right, keys_[2 * i]) & leftMask;
      right ^= scramble(left, keys_[2 * i + 1]) & rightMask;
    }
    index = left << rightBits_ | right;
  } while (index >= size_);
  return index;
}

Slice shareOf(int64_t count, int64_t ranks, int64_t rank) {
  int64_t each = count / ranks, more = count % ranks;
  int64_t begin = rank * each + std::min(rank, more);
  return {begin, begin + each + (rank < more ? 1 : 0)};
}

int64_t testRowsOf(int64_t rows, double fraction) {
  if (fraction <= 0) return 0;
  if (rows < 2) throw Error(ExitCode::Invalid, "a single row cannot be split into a training and a test part");
  // A fraction such as 0.2 is a hair above itself in binary; that must not add a row.
  return std::clamp<int64_t>(int64_t(std::ceil(double(rows) * fraction - 1e-9)), 1, rows - 1);
}

EpochOrder::EpochOrder(int64_t rows, bool shuffle, uint64_t seed, int64_t epoch)
    : permutation_(uint64_t(rows), streamKey(seed, Purpose::Shuffle, {uint64_t(epoch)})), shuffle_(shuffle) {}

} // namespace kft::run
