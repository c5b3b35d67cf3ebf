// Amounts of Kubernetes resources (`500m`, `16Gi`), exactly. A value is a whole number of nano units; 8Ei is 9.2e27 nano,
// well inside 128 bits. Printing follows apimachinery's canonical form.
//
// What Kubernetes would round or cap has no Amount: a part finer than 1n, a binary amount beyond 2^63-1. So whatever `str`
// prints is read back by a cluster as the same value.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace kft {

struct Amount {
  enum class Format : uint8_t { DecimalSI, BinarySI, DecimalExponent };
  __int128 nano = 0;
  Format format = Format::DecimalSI;

  // By value: `1Gi` equals `1024Mi`.
  bool operator==(const Amount &other) const { return nano == other.nano; }
  std::string str() const; // canonical
  bool isWhole() const { return nano % 1'000'000'000 == 0; }
  // Rounded up, as Kubernetes counts devices; saturates.
  int64_t ceil() const;
};

// Kubernetes' own grammar and case; no surrounding blanks. Nothing when the text is no amount, is finer than 1n, needs more
// than 128 bits, or is binary and beyond 2^63-1.
std::optional<Amount> parseAmount(llvm::StringRef text);

// A plain number where an amount is wanted. A float counts as the shortest decimal that reads back as it: 0.1 is a tenth.
Amount amountOf(int64_t value);
std::optional<Amount> amountOf(double value);

// Arithmetic; nothing where the result is not exact or does not fit, or the divisor is zero. The left operand's format stays,
// unless it is zero in a sum. Floats count as in `amountOf`, so `1Gi * 0.1` is exact.
std::optional<Amount> add(const Amount &a, const Amount &b);
std::optional<Amount> subtract(const Amount &a, const Amount &b);
std::optional<Amount> negate(const Amount &a);
std::optional<Amount> multiply(const Amount &a, int64_t factor);
std::optional<Amount> multiply(const Amount &a, double factor);
std::optional<Amount> divide(const Amount &a, int64_t divisor);
std::optional<Amount> divide(const Amount &a, double divisor);
// How often `b` fits into `a`; `b` is not zero.
double ratio(const Amount &a, const Amount &b);

} // namespace kft
