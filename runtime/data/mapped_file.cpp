#include "runtime/data/mapped_file.h"
#include "runtime/plan/error.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kft::run {

MappedFile::MappedFile(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw systemError(path, "open", errno);
  struct stat status;
  int failed = ::fstat(file, &status) ? errno : 0;
  const char *wrong = nullptr;
  if (!failed && S_ISDIR(status.st_mode))
    wrong = "is a directory; a data file is needed";
  else if (!failed && !S_ISREG(status.st_mode))
    wrong = "is not a regular file; it must stay readable during the whole run";
  if (!failed && !wrong && status.st_size > 0) {
    void *memory = ::mmap(nullptr, size_t(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED)
      failed = errno;
    else
      data_ = static_cast<const char *>(memory), size_ = size_t(status.st_size);
  }
  ::close(file);
  if (failed) throw systemError(path, "read", failed);
  if (wrong) throw Error(ExitCode::Invalid, path, 0, wrong);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<char *>(data_), size_);
}

} // namespace kft::run
