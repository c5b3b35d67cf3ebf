#include "runtime/launch/run_directory.h"
#include "runtime/launch/exit_codes.h"
#include "runtime/launch/host.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kft::run {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const std::string &what, int number) {
  throw LaunchError(Exit::CannotCreate, number ? fmt::format("{}: {}", what, std::strerror(number)) : what);
}

bool writeAll(int fd, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

std::string localTime(const char *format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof text, format, &parts));
}

} // namespace

std::string timestamp() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", text, millis);
}

RunDirectory RunDirectory::create(const std::string &jobName, const std::string &wanted) {
  RunDirectory run;
  std::error_code error;
  if (!wanted.empty()) {
    run.shown_ = wanted;
    fs::create_directories(wanted, error);
    if (error && !fs::is_directory(wanted)) refuse(fmt::format("cannot make `{}`", wanted), error.value());
  } else {
    fs::create_directories("runs", error);
    if (error && !fs::is_directory("runs")) refuse("cannot make `runs`", error.value());
    const std::string base = fmt::format("runs/{}-{}", jobName, localTime("%Y%m%d-%H%M%S"));
    // Two runs in one second: mkdir decides who has the name.
    for (int attempt = 1;; ++attempt) {
      run.shown_ = attempt == 1 ? base : fmt::format("{}-{}", base, attempt);
      if (mkdir(run.shown_.c_str(), 0777) == 0) break;
      if (errno != EEXIST || attempt == 10'000) refuse(fmt::format("cannot make `{}`", run.shown_), errno);
    }
  }
  run.path_ = fs::absolute(run.shown_, error).lexically_normal().string();
  while (run.path_.size() > 1 && run.path_.back() == '/') run.path_.pop_back();

  // The lock comes before the look at the content: of two runs in one folder exactly one goes on.
  run.lock_ = open(run.file("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (run.lock_ < 0) refuse(fmt::format("cannot write in `{}`", run.shown_), errno);
  if (flock(run.lock_, LOCK_EX | LOCK_NB) != 0) {
    char holder[512] = "";
    const ssize_t length = pread(run.lock_, holder, sizeof holder - 1, 0);
    std::string who;
    if (length > 0) {
      const Json json = Json::parse(std::string(holder, static_cast<size_t>(length)), nullptr, false);
      if (json.is_object()) who = fmt::format(" (process {} on {})", json.value("pid", 0), json.value("host", std::string("?")));
    }
    refuse(fmt::format("`{}` belongs to a run that is going on{}", run.shown_, who), 0);
  }
  for (const auto &entry : fs::directory_iterator(run.path_, error))
    if (entry.path().filename() != "lock")
      refuse(fmt::format("`{}` is not empty; a run needs a folder of its own", run.shown_), 0);
  if (error) refuse(fmt::format("cannot read `{}`", run.shown_), error.value());

  const Json holder{{"host", hostName()}, {"pid", getpid()}, {"start", startTime(getpid()).value_or(0)}, {"boot", bootId()}};
  if (ftruncate(run.lock_, 0) != 0 || !writeAll(run.lock_, holder.dump() + "\n")) refuse(fmt::format("cannot write in `{}`", run.shown_), errno);
  for (const char *folder : {"logs/attempt-1", "export"}) {
    fs::create_directories(run.file(folder), error);
    if (error) refuse(fmt::format("cannot make `{}/{}`", run.shown_, folder), error.value());
  }
  return run;
}

RunDirectory::RunDirectory(RunDirectory &&other) noexcept
    : path_(std::move(other.path_)), shown_(std::move(other.shown_)), lock_(std::exchange(other.lock_, -1)) {}

RunDirectory::~RunDirectory() {
  // The file stays, the lock goes with the descriptor: who finds the file unlocked knows that the run is over.
  if (lock_ >= 0) close(lock_);
}

void RunDirectory::freeze(const FrozenFile &frozen) { writeOnce(frozen.name, frozen.text); }

void RunDirectory::writeOnce(const std::string &name, const std::string &text) {
  std::error_code error;
  fs::create_directories(fs::path(file(name)).parent_path(), error);
  const int fd = open(file(name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) refuse(fmt::format("cannot write `{}/{}`", shown_, name), errno);
  const bool ok = writeAll(fd, text);
  const int number = errno;
  close(fd);
  if (!ok) throw LaunchError(Exit::InputOutput, fmt::format("cannot write `{}/{}`: {}", shown_, name, std::strerror(number)));
}

bool RunDirectory::isThere() const {
  struct stat ours, named;
  return fstat(lock_, &ours) == 0 && stat(file("lock").c_str(), &named) == 0 && ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

bool RunDirectory::replace(const std::string &name, const std::string &text) {
  if (!isThere()) return false;
  const std::string temporary = file("." + name + ".new");
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  const bool ok = writeAll(fd, text);
  close(fd);
  if (ok && rename(temporary.c_str(), file(name).c_str()) == 0) return true;
  unlink(temporary.c_str());
  return false;
}

bool RunDirectory::append(const std::string &name, const std::string &line) {
  if (!isThere()) return false;
  const int fd = open(file(name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  const bool ok = writeAll(fd, line);
  close(fd);
  return ok;
}

void RunDirectory::event(const std::string &name, Json details) {
  Json line{{"time", timestamp()}, {"event", name}};
  line.update(details);
  append("events.jsonl", line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

} // namespace kft::run
