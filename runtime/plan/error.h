// What stops a run, with the exit code that says who has to act. The launcher passes the code through; `what()` is for people.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace kft::run {

// The codes a rank ends with; the others belong to the launcher.
enum class ExitCode : int {
  Done = 0,
  Usage = 64,    // wrong command line
  Invalid = 65,  // plan or data that cannot be used
  Missing = 66,  // a file that is not there, or may not be read
  Resource = 69, // something the machine lacks
  Internal = 70, // our fault
  InputOutput = 74,
  Stopped = 75, // asked to stop; resumable once checkpoints exist
  Diverged = 80 // loss or gradient is not finite
};

// `path` and `line` point into a user's file; empty and 0 when there is none.
class Error : public std::runtime_error {
public:
  Error(ExitCode code, std::string text) : Error(code, "", 0, std::move(text)) {}
  Error(ExitCode code, std::string path, int64_t line, std::string text);

  ExitCode code;
  std::string path;
  int64_t line; // 1-based
  std::string text;
};

// An Error for a failed system call: Missing for "no such file" and "permission denied", InputOutput otherwise.
Error systemError(const std::string &path, const char *action, int number);

} // namespace kft::run
