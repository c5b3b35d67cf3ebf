// Which row a step reads, and which rank reads it. Order comes from a permutation that is computed, not stored: O(1)
// state, the same for any number of ranks, and any step can be entered directly.
#pragma once

#include <cstdint>

namespace kft::run {

// A bijection of 0..size-1 chosen by `key`: a Feistel network over the next power of two; values outside walk on until
// they fall inside.
class Permutation {
public:
  Permutation(uint64_t size, uint64_t key);
  uint64_t operator()(uint64_t index) const;
  uint64_t size() const { return size_; }

private:
  static constexpr int Rounds = 4; // pairs of half rounds
  uint64_t size_;
  int leftBits_, rightBits_;
  uint64_t keys_[2 * Rounds];
};

struct Slice {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const Slice &) const = default;
};

// Contiguous shares of `count` things; the first `count % ranks` ranks have one more.
Slice shareOf(int64_t count, int64_t ranks, int64_t rank);

// How many rows are set aside for the test: the fraction rounded up, and at least one row for each side. Throws Error
// when there are too few rows.
int64_t testRowsOf(int64_t rows, double fraction);

// Positions of one epoch to rows of the training part.
class EpochOrder {
public:
  EpochOrder(int64_t rows, bool shuffle, uint64_t seed, int64_t epoch);
  int64_t operator()(int64_t position) const { return shuffle_ ? int64_t(permutation_(uint64_t(position))) : position; }

private:
  Permutation permutation_;
  bool shuffle_;
};

} // namespace kft::run
