// What `kftc run` ends with. The ranks' own codes are runtime/plan/error.h; these are the launcher's, from the same list.
#pragma once

#include <stdexcept>
#include <string>

namespace kft::run {

enum class Exit : int {
  Done = 0,
  Unavailable = 69,  // host, program or resource not there; nothing was started
  Fault = 70,        // ours
  CannotCreate = 73, // run directory not writable or somebody else's
  InputOutput = 74,
  Stopped = 75,  // on request
  RankLost = 76, // gone without a code of its own
  Deadline = 124,
  SignalBase = 128
};

struct LaunchError : std::runtime_error {
  LaunchError(Exit code, const std::string &text) : std::runtime_error(text), code(code) {}
  Exit code;
};

} // namespace kft::run
