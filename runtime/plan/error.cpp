#include "runtime/plan/error.h"

#include <cerrno>
#include <cstring>

namespace kft::run {

static std::string place(const std::string &path, int64_t line, const std::string &text) {
  if (path.empty()) return text;
  return line > 0 ? path + ":" + std::to_string(line) + ": " + text : path + ": " + text;
}

Error::Error(ExitCode code, std::string path, int64_t line, std::string text)
    : std::runtime_error(place(path, line, text)), code(code), path(std::move(path)), line(line), text(std::move(text)) {}

Error systemError(const std::string &path, const char *action, int number) {
  bool missing = number == ENOENT || number == EACCES || number == ENOTDIR;
  return Error(missing ? ExitCode::Missing : ExitCode::InputOutput, path, 0,
               std::string("cannot ") + action + ": " + std::strerror(number));
}

} // namespace kft::run
