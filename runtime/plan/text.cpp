#include "runtime/plan/text.h"

#include <cstdio>
#include <iterator>

namespace kft::run {

namespace {

std::string scaled(double value, double step, const char *const *units, size_t count) {
  size_t unit = 0;
  // 1000 and not 1024, so that no number has four digits.
  while (value >= 999.5 && unit + 1 < count) value /= step, ++unit;
  char text[64];
  std::snprintf(text, sizeof text, "%.*f%s%s", unit > 0 && value < 99.95 ? 1 : 0, value, *units[unit] ? " " : "", units[unit]);
  return text;
}

} // namespace

std::string bytesText(double bytes) {
  static constexpr const char *Units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return scaled(bytes, 1024, Units, std::size(Units));
}

std::string countText(double count) {
  static constexpr const char *Units[] = {"", "k", "M", "G", "T", "P", "E"};
  return scaled(count, 1000, Units, std::size(Units));
}

std::string flopsText(double count) {
  static constexpr const char *Units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"};
  return scaled(count, 1000, Units, std::size(Units));
}

} // namespace kft::run
