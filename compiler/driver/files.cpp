#include "compiler/driver/files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kft::driver {

namespace {
constexpr size_t MaxInputBytes = 64ull << 20; // language.md section 3

std::error_code lastError() { return {errno, std::generic_category()}; }

llvm::Error failure(std::error_code code) { return llvm::createStringError(code, "%s", code.message().c_str()); }
} // namespace

llvm::Expected<std::string> readStdin() {
  std::string text;
  size_t size = 0;
  while (true) {
    text.resize(std::max<size_t>(size * 2, 1 << 16));
    ssize_t got = ::read(STDIN_FILENO, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(lastError());
    if (got == 0) break;
    size += static_cast<size_t>(got);
    if (size > MaxInputBytes)
      return llvm::createStringError(std::make_error_code(std::errc::file_too_large), "it is larger than 64 MiB");
  }
  text.resize(size);
  return text;
}

std::error_code writeAll(int fileDescriptor, llvm::StringRef text) {
  while (!text.empty()) {
    ssize_t written = ::write(fileDescriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return lastError();
    text = text.drop_front(static_cast<size_t>(written));
  }
  return {};
}

llvm::Error writeFile(llvm::StringRef path, llvm::StringRef text) {
  llvm::SmallString<256> target(path);
  // Through a link, so that the link stays.
  llvm::SmallString<256> real;
  if (!llvm::sys::fs::real_path(path, real)) target = real;
  struct stat status;
  bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return failure(std::make_error_code(std::errc::is_a_directory));
  // A device or a pipe has nothing to replace: /dev/null, a shell's >(...).
  if (exists && !S_ISREG(status.st_mode)) {
    int file = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return failure(lastError());
    std::error_code error = writeAll(file, text);
    ::close(file);
    return error ? failure(error) : llvm::Error::success();
  }
  // A rename would replace a file that nobody may write.
  if (exists && ::access(target.c_str(), W_OK) != 0) return failure(lastError());
  llvm::SmallString<256> temporary(target);
  temporary += ".XXXXXX";
  int file = ::mkostemp(const_cast<char *>(temporary.c_str()), O_CLOEXEC);
  if (file < 0) return failure(lastError());
  mode_t mode = 0666;
  if (exists) {
    mode = status.st_mode & 07777;
  } else {
    mode_t mask = ::umask(0);
    ::umask(mask);
    mode &= ~mask;
  }
  std::error_code error = writeAll(file, text);
  if (!error && ::fchmod(file, mode) != 0) error = lastError();
  // The owner as well, where we are allowed to; the file of a colleague should stay theirs.
  if (!error && exists && (status.st_uid != ::geteuid() || status.st_gid != ::getegid()))
    if (::fchown(file, status.st_uid, status.st_gid) != 0) errno = 0;
  if (!error && ::fsync(file) != 0) error = lastError();
  if (::close(file) != 0 && !error) error = lastError();
  if (!error && ::rename(temporary.c_str(), target.c_str()) != 0) error = lastError();
  if (error) {
    ::unlink(temporary.c_str());
    return failure(error);
  }
  return llvm::Error::success();
}

bool sameFile(llvm::StringRef a, llvm::StringRef b) {
  bool same = false;
  return !llvm::sys::fs::equivalent(a, b, same) && same;
}

} // namespace kft::driver
