#include "compiler/basic/quantity.h"

#include <charconv>
#include <climits>
#include <cmath>
#include <cstdlib>

namespace kft {

namespace {

using Wide = __int128;
using Format = Amount::Format;

constexpr Wide NanoPerUnit = 1'000'000'000;
constexpr Wide LargestBinary = Wide{INT64_MAX} * NanoPerUnit;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// False on overflow, or where digits would be lost.
bool scaleByTen(Wide &value, int exponent) {
  if (value == 0) return true;
  for (; exponent > 0; --exponent)
    if (__builtin_mul_overflow(value, Wide{10}, &value)) return false;
  for (; exponent < 0; ++exponent) {
    if (value % 10 != 0) return false;
    value /= 10;
  }
  return true;
}

std::optional<Amount> checked(Wide nano, Format format) {
  if (format == Format::BinarySI && (nano > LargestBinary || nano < -LargestBinary)) return std::nullopt;
  return Amount{nano, format};
}

std::string decimal(Wide value) {
  char buffer[48];
  char *end = buffer + sizeof buffer, *at = end;
  const bool isNegative = value < 0;
  // Digit by digit with the sign kept: the smallest value has no positive counterpart.
  do *--at = static_cast<char>('0' + std::abs(static_cast<int>(value % 10)));
  while ((value /= 10) != 0);
  if (isNegative) *--at = '-';
  return {at, end};
}

struct Suffix {
  Format format;
  int exponent; // of 2 for BinarySI, else of 10
};

std::optional<Suffix> parseSuffix(llvm::StringRef text) {
  static constexpr char Large[] = "kMGTPE";
  if (text.empty()) return Suffix{Format::DecimalSI, 0};
  if (text.size() == 2 && text[1] == 'i') {
    static constexpr char Binary[] = "KMGTPE";
    for (int i = 0; Binary[i]; ++i)
      if (text[0] == Binary[i]) return Suffix{Format::BinarySI, 10 * (i + 1)};
    return std::nullopt;
  }
  if (text.size() == 1) {
    if (text[0] == 'n') return Suffix{Format::DecimalSI, -9};
    if (text[0] == 'u') return Suffix{Format::DecimalSI, -6};
    if (text[0] == 'm') return Suffix{Format::DecimalSI, -3};
    for (int i = 0; Large[i]; ++i)
      if (text[0] == Large[i]) return Suffix{Format::DecimalSI, 3 * (i + 1)};
    return std::nullopt;
  }
  if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
  text = text.drop_front();
  const bool isNegative = text.front() == '-';
  if (text.front() == '+' || text.front() == '-') text = text.drop_front();
  if (text.empty()) return std::nullopt;
  int exponent = 0;
  for (char c : text) {
    if (!isDigit(c)) return std::nullopt;
    exponent = std::min(exponent * 10 + (c - '0'), 10'000); // no value but zero survives this
  }
  return Suffix{Format::DecimalExponent, isNegative ? -exponent : exponent};
}

// A float as mantissa * 10^exponent, of the shortest decimal that reads back as it.
struct Decimal {
  int64_t mantissa;
  int exponent;
};

std::optional<Decimal> shortestDecimal(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  llvm::StringRef text(buffer, static_cast<size_t>(end - buffer));
  auto [digits, exponentText] = text.split('e');
  if (exponentText.startswith("+")) exponentText = exponentText.drop_front();
  Decimal result{0, 0};
  if (exponentText.getAsInteger(10, result.exponent)) return std::nullopt;
  bool afterDot = false;
  for (char c : digits) {
    if (c == '.') afterDot = true;
    if (!isDigit(c)) continue;
    result.mantissa = result.mantissa * 10 + (c - '0'); // at most 17 digits
    if (afterDot) --result.exponent;
  }
  if (digits.startswith("-")) result.mantissa = -result.mantissa;
  return result;
}

} // namespace

std::string Amount::str() const {
  if (nano == 0) return "0";
  Wide mantissa = nano;
  if (format == Format::BinarySI && isWhole()) {
    mantissa /= NanoPerUnit;
    if (mantissa <= -1024 || mantissa >= 1024) {
      static constexpr const char *Suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
      int power = 0;
      for (; power < 6 && mantissa % 1024 == 0; ++power) mantissa /= 1024;
      return decimal(mantissa) + Suffixes[power];
    }
    mantissa = nano;
  }
  int exponent = -9;
  const bool hasExponent = format == Format::DecimalExponent;
  for (; mantissa % 10 == 0; ++exponent) mantissa /= 10;
  // The suffixes end at E; an exponent goes on.
  while (exponent % 3 != 0 || (!hasExponent && exponent > 18)) {
    mantissa *= 10;
    --exponent;
  }
  if (hasExponent) return decimal(mantissa) + (exponent == 0 ? std::string() : "e" + std::to_string(exponent));
  static constexpr const char *Suffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  return decimal(mantissa) + Suffixes[exponent / 3 + 3];
}

int64_t Amount::ceil() const {
  Wide whole = nano / NanoPerUnit;
  if (nano % NanoPerUnit > 0) ++whole;
  if (whole > INT64_MAX) return INT64_MAX;
  if (whole < INT64_MIN) return INT64_MIN;
  return static_cast<int64_t>(whole);
}

std::optional<Amount> parseAmount(llvm::StringRef text) {
  const bool isNegative = text.startswith("-");
  if (isNegative || text.startswith("+")) text = text.drop_front();
  llvm::StringRef whole = text.take_while(isDigit);
  text = text.drop_front(whole.size());
  llvm::StringRef fraction;
  if (text.consume_front(".")) {
    fraction = text.take_while(isDigit);
    text = text.drop_front(fraction.size());
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  const std::optional<Suffix> suffix = parseSuffix(text);
  if (!suffix) return std::nullopt;

  fraction = fraction.rtrim('0');
  Wide value = 0;
  for (llvm::StringRef part : {whole, fraction})
    for (char c : part)
      if (__builtin_mul_overflow(value, Wide{10}, &value) || __builtin_add_overflow(value, Wide{c - '0'}, &value)) return std::nullopt;
  int tens = 9 - static_cast<int>(std::min<size_t>(fraction.size(), 100'000));
  if (suffix->format == Format::BinarySI) {
    if (__builtin_mul_overflow(value, Wide{1} << suffix->exponent, &value)) return std::nullopt;
  } else {
    tens += suffix->exponent;
  }
  if (!scaleByTen(value, tens)) return std::nullopt;
  return checked(isNegative ? -value : value, suffix->format);
}

Amount amountOf(int64_t value) { return {Wide{value} * NanoPerUnit, Format::DecimalSI}; }

std::optional<Amount> amountOf(double value) {
  const std::optional<Decimal> number = shortestDecimal(value);
  if (!number) return std::nullopt;
  Wide nano = number->mantissa;
  if (!scaleByTen(nano, number->exponent + 9)) return std::nullopt;
  return Amount{nano, Format::DecimalSI};
}

std::optional<Amount> add(const Amount &a, const Amount &b) {
  Wide sum = 0;
  if (__builtin_add_overflow(a.nano, b.nano, &sum)) return std::nullopt;
  return checked(sum, a.nano == 0 ? b.format : a.format);
}

std::optional<Amount> subtract(const Amount &a, const Amount &b) {
  Wide difference = 0;
  if (__builtin_sub_overflow(a.nano, b.nano, &difference)) return std::nullopt;
  return checked(difference, a.nano == 0 ? b.format : a.format);
}

std::optional<Amount> negate(const Amount &a) { return subtract(Amount{0, a.format}, Amount{a.nano, a.format}); }

std::optional<Amount> multiply(const Amount &a, int64_t factor) {
  Wide product = 0;
  if (__builtin_mul_overflow(a.nano, Wide{factor}, &product)) return std::nullopt;
  return checked(product, a.format);
}

std::optional<Amount> multiply(const Amount &a, double factor) {
  const std::optional<Decimal> number = shortestDecimal(factor);
  Wide product = 0;
  if (!number || __builtin_mul_overflow(a.nano, Wide{number->mantissa}, &product) || !scaleByTen(product, number->exponent)) return std::nullopt;
  return checked(product, a.format);
}

std::optional<Amount> divide(const Amount &a, int64_t divisor) {
  if (divisor == -1) return negate(a);
  if (divisor == 0 || a.nano % divisor != 0) return std::nullopt;
  return checked(a.nano / divisor, a.format);
}

std::optional<Amount> divide(const Amount &a, double divisor) {
  const std::optional<Decimal> number = shortestDecimal(divisor);
  if (!number || number->mantissa == 0) return std::nullopt;
  // a / (m * 10^e) = a * 10^-e / m.
  Wide nano = a.nano, mantissa = number->mantissa;
  if (number->exponent > 0) {
    for (int i = 0; i < number->exponent; ++i)
      if (__builtin_mul_overflow(mantissa, Wide{10}, &mantissa)) return nano == 0 ? std::optional(a) : std::nullopt;
  } else if (!scaleByTen(nano, -number->exponent)) {
    return std::nullopt;
  }
  if (mantissa == -1) return negate({nano, a.format});
  if (nano % mantissa != 0) return std::nullopt;
  return checked(nano / mantissa, a.format);
}

double ratio(const Amount &a, const Amount &b) { return static_cast<double>(a.nano) / static_cast<double>(b.nano); }

} // namespace kft
