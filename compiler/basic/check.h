// What must hold or the program is wrong. Kept in release builds: a compiler that goes on after a broken promise writes
// manifests that nobody asked for.
#pragma once

namespace kft {

// Says what broke, where, and how to report it; then ends the process with exit code 4.
[[noreturn]] void checkFailed(const char *condition, const char *why, const char *file, int line);

} // namespace kft

// KFT_CHECK(index < items.size(), "resolve bound every name")
#define KFT_CHECK(condition, why)                                                                                      \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::kft::checkFailed(#condition, why, __FILE__, __LINE__))
