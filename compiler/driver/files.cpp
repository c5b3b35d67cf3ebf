#include "compiler/driver/files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <vector>

namespace kft::driver {

namespace {
constexpr size_t MaxInputBytes = 64ull << 20; // language.md section 3

std::error_code lastError() { return {errno, std::generic_category()}; }

llvm::Error failure(std::error_code code) { return llvm::createStringError(code, "%s", code.message().c_str()); }
} // namespace

llvm::Expected<std::string> readStdin() {
  static std::optional<std::string> all; // who asks again (a test for each block of the file) gets the same
  if (all) return *all;
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
  all = text;
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

namespace {

// A file that is on the disk under a temporary name beside its own. Unless it is put in its place, it goes away again.
class Staged {
public:
  Staged() = default;
  Staged(const Staged &) = delete;
  ~Staged() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  std::error_code write(llvm::StringRef path, llvm::StringRef text) {
    target_ = path.str();
    // Through a link, so that the link stays.
    llvm::SmallString<256> real;
    if (!llvm::sys::fs::real_path(path, real)) target_ = real.str().str();
    struct stat status;
    bool exists = ::stat(target_.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) return std::make_error_code(std::errc::is_a_directory);
    // A device or a pipe has nothing to replace: /dev/null, a shell's >(...).
    if (exists && !S_ISREG(status.st_mode)) {
      text_ = text;
      return ::access(target_.c_str(), W_OK) == 0 ? std::error_code() : lastError();
    }
    // A rename would replace a file that nobody may write.
    if (exists && ::access(target_.c_str(), W_OK) != 0) return lastError();
    std::string name = target_ + ".XXXXXX";
    int file = ::mkostemp(name.data(), O_CLOEXEC);
    if (file < 0) return lastError();
    temporary_ = name;
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
    return error;
  }

  std::error_code commit() {
    if (temporary_.empty()) {
      int file = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
      if (file < 0) return lastError();
      std::error_code error = writeAll(file, text_);
      ::close(file);
      return error;
    }
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) return lastError();
    temporary_.clear();
    return {};
  }

private:
  std::string target_, temporary_;
  llvm::StringRef text_; // of what is no regular file
};

} // namespace

llvm::Error writeFile(llvm::StringRef path, llvm::StringRef text) {
  Staged staged;
  std::error_code error = staged.write(path, text);
  if (!error) error = staged.commit();
  return error ? failure(error) : llvm::Error::success();
}

llvm::Error writeFiles(llvm::ArrayRef<OutputFile> files, std::string &failed) {
  std::vector<Staged> staged(files.size());
  for (size_t i = 0; i < files.size(); ++i)
    if (std::error_code error = staged[i].write(files[i].path, files[i].text)) {
      failed = files[i].path;
      return failure(error);
    }
  for (size_t i = 0; i < files.size(); ++i)
    if (std::error_code error = staged[i].commit()) {
      failed = files[i].path;
      return failure(error);
    }
  return llvm::Error::success();
}

llvm::Error makeDirectory(llvm::StringRef path) {
  std::error_code error = llvm::sys::fs::create_directories(path);
  if (!error && !llvm::sys::fs::is_directory(path)) error = std::make_error_code(std::errc::not_a_directory);
  return error ? failure(error) : llvm::Error::success();
}

bool sameFile(llvm::StringRef a, llvm::StringRef b) {
  bool same = false;
  return !llvm::sys::fs::equivalent(a, b, same) && same;
}

} // namespace kft::driver
