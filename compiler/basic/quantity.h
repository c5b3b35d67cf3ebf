// Amounts of Kubernetes resources (`500m`, `16Gi`), exactly. A value is a whole number of nano units; 8Ei is 9.2e27 nano,
// well inside 128 bits. Printing follows apimachinery's canonical form.
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

// Kubernetes' own grammar and case; no surrounding blanks. Nothing when the text is no amount, is finer than 1n, or needs
// more than 128 bits.
std::optional<Amount> parseAmount(llvm::StringRef text);

} // namespace kft
