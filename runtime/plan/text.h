// Sizes and counts as people read them.
#pragma once

#include <string>

namespace kft::run {

std::string bytesText(double bytes); // 76 KiB
std::string countText(double count); // 9.6 k, 5.1 M
std::string flopsText(double count); // 492 FLOP, 9.6 kFLOP

} // namespace kft::run
