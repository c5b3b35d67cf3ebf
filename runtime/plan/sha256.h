// SHA-256 (FIPS 180-4) of plans and data files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kft::run {

class Sha256 {
public:
  void update(const void *bytes, size_t count);
  std::string hex(); // ends the message; call once

private:
  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block_{};
  size_t filled_ = 0;
  uint64_t total_ = 0;
};

std::string sha256(std::string_view bytes);

namespace sha256_detail {
// Both take whole blocks of 64 bytes; tests compare them. The fast one may only run where `hasInstructions` holds.
void compressPlain(uint32_t *state, const uint8_t *blocks, size_t count);
void compressFast(uint32_t *state, const uint8_t *blocks, size_t count);
bool hasInstructions();
} // namespace sha256_detail

} // namespace kft::run
