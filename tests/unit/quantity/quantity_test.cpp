#include "compiler/basic/quantity.h"

#include <gtest/gtest.h>

#include <random>

namespace kft {
namespace {

using Format = Amount::Format;
using Wide = __int128;

std::string printed(llvm::StringRef text) {
  auto amount = parseAmount(text);
  return amount ? amount->str() : "nothing";
}

TEST(Quantity, PrintsTheCanonicalForm) {
  const std::pair<const char *, const char *> cases[] = {
      {"0", "0"},          {"-0", "0"},         {"0Gi", "0"},          {"1000m", "1"},       {"0.5", "500m"},
      {"2.50", "2500m"},   {"1500m", "1500m"},  {"1024Mi", "1Gi"},     {"1.5Gi", "1536Mi"},  {"0.1Gi", "107374182400m"},
      {"1000Mi", "1000Mi"},{"1000M", "1G"},     {"1e3", "1e3"},        {"12e2", "1200"},     {"1e1", "10"},
      {"1e19", "10e18"},   {"1000.5", "1000500m"}, {"0.250", "250m"},  {"1.000", "1"},       {"+1Pi", "1Pi"},
      {"008Gi", "8Gi"},    {"1023Ki", "1023Ki"},{"1Ki", "1Ki"},        {"0.5Ki", "512"},     {"1n", "1n"},
      {"1000n", "1u"},     {"1E", "1E"},        {"1000E", "1000E"},    {"12000E", "12000E"}, {"100e18", "100e18"},
      {"1E3", "1e3"},      {"1e-3", "1e-3"},    {"-1.5Gi", "-1536Mi"}, {"3.", "3"},          {".5", "500m"},
      {"20G", "20G"},      {"2k", "2k"},        {"7Ei", "7Ei"},        {"0e99999", "0"},     {"1.0000000000", "1"},
  };
  for (auto [text, canonical] : cases) EXPECT_EQ(printed(text), canonical) << text;
}

TEST(Quantity, RefusesWhatIsNoAmount) {
  for (const char *text : {"", " 1", "1 ", "1g", "6GiB", "1K", "1ki", "1kI", "1.2.3", ".", "-", "+", "--1", "Gi", "1e", "1e+", "1ee3", "0x10", "1_000",
                           "1Mi5", "1,5", "1mi", "\xC2\xB5", "1i", "NaN", "1e1.5"})
    EXPECT_EQ(printed(text), "nothing") << text;
}

TEST(Quantity, RefusesWhatKubernetesWouldRoundOrCap) {
  for (const char *text : {"0.1n", "1.5n", "1e-10", "0.0000000001", "0.0000000001Ki", "8Ei", "-9Ei", "16Ei", "1e40", "99999999999999999999999999999999999999999", "1e99999"})
    EXPECT_EQ(printed(text), "nothing") << text;
  EXPECT_EQ(printed("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(printed("8191Pi"), "8191Pi");
}

TEST(Quantity, ComparesByValueAndCountsUp) {
  EXPECT_EQ(*parseAmount("1Gi"), *parseAmount("1024Mi"));
  EXPECT_EQ(*parseAmount("1"), *parseAmount("1e0"));
  EXPECT_EQ(parseAmount("1500m")->ceil(), 2);
  EXPECT_EQ(parseAmount("100m")->ceil(), 1);
  EXPECT_EQ(parseAmount("-1500m")->ceil(), -1);
  EXPECT_EQ(parseAmount("1000E")->ceil(), INT64_MAX);
  EXPECT_TRUE(parseAmount("1000m")->isWhole());
  EXPECT_FALSE(parseAmount("1001m")->isWhole());
}

TEST(Quantity, ArithmeticIsExactOrNothing) {
  auto amount = [](const char *text) { return *parseAmount(text); };
  EXPECT_EQ(add(amount("1Gi"), amount("512Mi"))->str(), "1536Mi");
  EXPECT_EQ(add(amount("0"), amount("1Gi"))->str(), "1Gi");
  EXPECT_EQ(subtract(amount("1"), amount("1m"))->str(), "999m");
  EXPECT_EQ(multiply(amount("16Gi"), int64_t{3})->str(), "48Gi");
  EXPECT_EQ(multiply(amount("16Gi"), 0.5)->str(), "8Gi");
  EXPECT_EQ(multiply(amount("1Gi"), 0.1)->str(), "107374182400m");
  EXPECT_EQ(multiply(amount("2"), 1e3)->str(), "2k");
  EXPECT_EQ(divide(amount("1Gi"), int64_t{4})->str(), "256Mi");
  EXPECT_EQ(divide(amount("1"), 0.25)->str(), "4");
  EXPECT_EQ(divide(amount("3"), 1.5)->str(), "2");
  EXPECT_EQ(divide(amount("6k"), 3e3)->str(), "2");
  EXPECT_EQ(divide(amount("0"), 1e300)->str(), "0");
  EXPECT_EQ(divide(amount("4"), int64_t{-1})->str(), "-4");
  EXPECT_EQ(divide(amount("1"), int64_t{3}), std::nullopt);
  EXPECT_EQ(divide(amount("1"), int64_t{0}), std::nullopt);
  EXPECT_EQ(divide(amount("1"), 0.0), std::nullopt);
  EXPECT_EQ(multiply(amount("1n"), 0.5), std::nullopt);
  EXPECT_EQ(multiply(amount("1"), 1e-300), std::nullopt);
  EXPECT_EQ(multiply(amount("1"), 1e300), std::nullopt);
  EXPECT_EQ(multiply(amount("1"), std::numeric_limits<double>::infinity()), std::nullopt);
  EXPECT_EQ(multiply(amount("1"), std::numeric_limits<double>::quiet_NaN()), std::nullopt);
  EXPECT_EQ(multiply(amount("7Ei"), int64_t{2}), std::nullopt);
  EXPECT_EQ(multiply(amount("7E"), int64_t{2})->str(), "14E");
  EXPECT_EQ(amountOf(int64_t{2000}).str(), "2k");
  EXPECT_EQ(amountOf(0.1)->str(), "100m");
  EXPECT_EQ(amountOf(1e-10), std::nullopt);
  EXPECT_DOUBLE_EQ(ratio(amount("1Gi"), amount("256Mi")), 4);
}

// Whatever is parsed prints as something that parses to the same value and prints the same again.
TEST(Quantity, PrintingIsAFixedPoint) {
  std::mt19937_64 random(20);
  const char *suffixes[] = {"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e0", "e3", "E6", "e-3", "e+2", "e5", "e-9", "e18"};
  int kept = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text = random() % 4 ? "" : random() % 2 ? "-" : "+";
    auto digits = [&](unsigned most) {
      for (unsigned n = 1 + random() % most; n > 0; --n) text += static_cast<char>('0' + (random() % 3 ? random() % 10 : 0));
    };
    digits(1 + random() % 18);
    if (random() % 2) {
      text += '.';
      digits(1 + random() % 12);
    }
    text += suffixes[random() % std::size(suffixes)];
    auto amount = parseAmount(text);
    if (!amount) continue;
    ++kept;
    const std::string canonical = amount->str();
    auto again = parseAmount(canonical);
    ASSERT_TRUE(again) << text << " -> " << canonical;
    ASSERT_TRUE(again->nano == amount->nano) << text << " -> " << canonical;
    ASSERT_EQ(again->str(), canonical) << text;
  }
  EXPECT_GT(kept, 20'000);
}

TEST(Quantity, SumsAndProductsAgreeWithWholeNumbers) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 20'000; ++i) {
    const auto x = static_cast<int64_t>(random() >> 20), y = static_cast<int64_t>(random() >> 20), k = static_cast<int64_t>(random() % 1000 + 1);
    const Amount a{Wide{x}, Format::BinarySI}, b{Wide{y}, Format::DecimalSI};
    ASSERT_TRUE(add(a, b)->nano == Wide{x} + y);
    ASSERT_TRUE(subtract(a, b)->nano == Wide{x} - y);
    ASSERT_TRUE(*divide(*multiply(a, k), k) == a);
    ASSERT_TRUE(*multiply(a, static_cast<double>(k)) == *multiply(a, k));
    ASSERT_EQ(add(a, *negate(a))->str(), "0");
  }
}

} // namespace
} // namespace kft
