#include "runtime/data/mapped_file.h"
#include "runtime/plan/error.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kft::run {

namespace {

// What the handler may look at: no lock, no allocation. A file beyond the last place is read all the same.
struct Mapping {
  std::atomic<const char *> begin{nullptr};
  size_t size = 0;
  std::array<char, 512> path{};
};
std::array<Mapping, 16> mappings;

void say(const char *text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

// The kernel's answer to a read beyond the end of a file that became shorter, or from a disk that fails.
void onBusError(int number, siginfo_t *info, void *) {
  const char *at = static_cast<const char *>(info->si_addr);
  for (const Mapping &mapping : mappings) {
    const char *begin = mapping.begin.load();
    if (!begin || at < begin || at >= begin + mapping.size) continue;
    say(program_invocation_short_name);
    say(": ");
    say(mapping.path.data());
    say(": the file was cut short, or its disk failed, while it was being read; data must not change during a run\n");
    ::_exit(int(ExitCode::Invalid));
  }
  // Not ours: the fault happens again, and then it kills.
  std::signal(number, SIG_DFL);
}

void watch(const char *data, size_t size, const std::string &path) {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO;
    return ::sigaction(SIGBUS, &action, nullptr) == 0;
  }();
  if (!installed) return;
  for (Mapping &mapping : mappings)
    if (!mapping.begin.load()) {
      mapping.size = size;
      mapping.path[path.copy(mapping.path.data(), mapping.path.size() - 1)] = 0;
      mapping.begin.store(data);
      return;
    }
}

void forget(const char *data) {
  for (Mapping &mapping : mappings)
    if (mapping.begin.load() == data) mapping.begin.store(nullptr);
}

} // namespace

MappedFile::MappedFile(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe is refused below, not waited for
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
      data_ = static_cast<const char *>(memory), size_ = size_t(status.st_size), watch(data_, size_, path);
  }
  ::close(file);
  if (failed) throw systemError(path, "read", failed);
  if (wrong) throw Error(ExitCode::Invalid, path, 0, wrong);
}

MappedFile::~MappedFile() {
  if (!data_) return;
  forget(data_);
  ::munmap(const_cast<char *>(data_), size_);
}

} // namespace kft::run
