// Data files are hashed before every run, so the processor's own SHA instructions are used where they exist: 2 GB/s against
// 0.3 GB/s for the plain loop.
#include "runtime/plan/sha256.h"

#include <algorithm>
#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace kft::run {

static constexpr uint32_t RoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

namespace sha256_detail {

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

void compressPlain(uint32_t *state, const uint8_t *p, size_t count) {
  for (; count; --count, p += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i)
      w[i] = uint32_t(p[4 * i]) << 24 | uint32_t(p[4 * i + 1]) << 16 | uint32_t(p[4 * i + 2]) << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; ++i) {
      uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
      uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; ++i) {
      uint32_t t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + RoundConstants[i] + w[i];
      uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e, state[5] += f, state[6] += g, state[7] += h;
  }
}

#if defined(__x86_64__)
bool hasInstructions() {
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & 1u << 29)) return false;
  return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3");
}

// The instructions keep the state as ABEF and CDGH; sixteen groups of four rounds, the message schedule four words ahead.
__attribute__((target("sha,sse4.1,ssse3"))) void compressFast(uint32_t *state, const uint8_t *p, size_t count) {
  const __m128i byteOrder = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i low = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(state)), 0xB1);
  __m128i high = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(state + 4)), 0x1B);
  __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xF0);
  for (; count; --count, p += 64) {
    __m128i startAbef = abef, startCdgh = cdgh, w[4];
    for (int i = 0; i < 4; ++i) w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p) + i), byteOrder);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      __m128i k = _mm_loadu_si128(reinterpret_cast<const __m128i *>(RoundConstants) + i);
      __m128i sum = _mm_add_epi32(w[i % 4], k);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      if (i < 12) {
        __m128i next = _mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]);
        next = _mm_add_epi32(next, _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4));
        w[i % 4] = _mm_sha256msg2_epu32(next, w[(i + 3) % 4]);
      }
    }
    abef = _mm_add_epi32(abef, startAbef), cdgh = _mm_add_epi32(cdgh, startCdgh);
  }
  __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i *>(state), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#else
bool hasInstructions() { return false; }
void compressFast(uint32_t *state, const uint8_t *blocks, size_t count) { compressPlain(state, blocks, count); }
#endif

} // namespace sha256_detail

static void compress(uint32_t *state, const uint8_t *blocks, size_t count) {
  static const bool fast = sha256_detail::hasInstructions();
  fast ? sha256_detail::compressFast(state, blocks, count) : sha256_detail::compressPlain(state, blocks, count);
}

void Sha256::update(const void *bytes, size_t count) {
  auto *p = static_cast<const uint8_t *>(bytes);
  total_ += count;
  if (filled_) {
    size_t part = std::min(count, block_.size() - filled_);
    std::memcpy(block_.data() + filled_, p, part);
    filled_ += part, p += part, count -= part;
    if (filled_ < block_.size()) return;
    compress(state_.data(), block_.data(), 1);
    filled_ = 0;
  }
  compress(state_.data(), p, count / 64);
  p += count / 64 * 64, count %= 64;
  if (count) std::memcpy(block_.data(), p, count);
  filled_ = count;
}

std::string Sha256::hex() {
  uint64_t bits = total_ * 8;
  uint8_t tail[72] = {0x80};
  size_t zeros = (filled_ < 56 ? 56 : 120) - filled_;
  for (int i = 0; i < 8; ++i) tail[zeros + i] = uint8_t(bits >> (56 - 8 * i));
  update(tail, zeros + 8);
  std::string text;
  for (uint32_t word : state_)
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes.data(), bytes.size());
  return hash.hex();
}

} // namespace kft::run
