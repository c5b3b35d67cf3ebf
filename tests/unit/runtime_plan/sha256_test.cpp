#include "runtime/plan/sha256.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace kft::run;

TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesDoNotMatter) {
  std::string text(1000, 'x');
  for (size_t i = 0; i < text.size(); ++i) text[i] = char('a' + i % 23);
  for (size_t piece : {1, 3, 55, 56, 63, 64, 65, 200}) {
    Sha256 hash;
    for (size_t at = 0; at < text.size(); at += piece) hash.update(text.data() + at, std::min(piece, text.size() - at));
    EXPECT_EQ(hash.hex(), sha256(text)) << piece;
  }
}

TEST(Sha256, FastEqualsPlain) {
  if (!sha256_detail::hasInstructions()) GTEST_SKIP() << "no SHA instructions here";
  std::vector<uint8_t> bytes(64 * 9);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = uint8_t(i * 37 + i / 7);
  uint32_t plain[8] = {1, 2, 3, 4, 5, 6, 7, 8}, fast[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  sha256_detail::compressPlain(plain, bytes.data(), 9);
  sha256_detail::compressFast(fast, bytes.data(), 9);
  EXPECT_EQ(std::memcmp(plain, fast, sizeof plain), 0);
}
