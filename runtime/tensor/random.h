// Randomness without state: a value is a function of a key and a counter, so it does not matter which rank, thread or
// piece of a batch asks for it, or in which order. The function is the finalizer of SplitMix64 over a Weyl sequence.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace kft::run {

inline constexpr uint64_t WeylStep = 0x9e3779b97f4a7c15;

constexpr uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// What a stream is for; part of its key, so that no two uses share numbers.
enum class Purpose : uint64_t { Weights = 1, Dropout, Shuffle, Split };

constexpr uint64_t streamKey(uint64_t seed, Purpose purpose, std::initializer_list<uint64_t> parts = {}) {
  uint64_t key = mix(seed + WeylStep * uint64_t(purpose));
  for (uint64_t part : parts)
    key = mix(key ^ mix(part + WeylStep));
  return key;
}

constexpr uint64_t randomBits(uint64_t key, uint64_t counter) { return mix(key + WeylStep * (counter + 1)); }

// In [0, 1), 24 bits: every value is a float.
constexpr float randomUnit(uint64_t key, uint64_t counter) { return float(randomBits(key, counter) >> 40) * 0x1p-24f; }

} // namespace kft::run
