#include "compiler/emit/scalar.h"

#include "compiler/basic/check.h"

#include <charconv>
#include <cmath>

namespace kft::emit {

Character firstCharacter(llvm::StringRef text) {
  constexpr Character Invalid{0xFFFD, 1};
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const unsigned size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return Invalid;
  uint32_t code = lead & (0x7Fu >> size);
  for (unsigned i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return Invalid;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool isLong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  if (isLong || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return Invalid;
  return {code, size};
}

std::string floatText(double value) {
  KFT_CHECK(std::isfinite(value), "evaluation reports numbers that are not finite");
  char buffer[40];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  const size_t exponent = text.find('e');
  if (text.find('.') == std::string::npos) text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  return text;
}

} // namespace kft::emit
