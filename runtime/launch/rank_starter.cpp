#include "runtime/launch/rank_starter.h"
#include "runtime/launch/exit_codes.h"
#include "runtime/launch/host.h"
#include "runtime/launch/run_directory.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kft::run {

namespace fs = std::filesystem;

namespace {

std::vector<pid_t> allProcesses() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) pids.push_back(std::atoi(name.c_str()));
  }
  return pids;
}

std::vector<ProcessRef> marked(const std::string &runDirectory) {
  const std::string marker = fmt::format("{}={}", RunMarker, runDirectory);
  std::vector<ProcessRef> found;
  for (pid_t pid : allProcesses()) {
    if (pid == getpid()) continue;
    const auto start = startTime(pid);
    if (!start) continue;
    std::ifstream in(fmt::format("/proc/{}/environ", pid), std::ios::binary);
    for (std::string entry; std::getline(in, entry, '\0');)
      if (entry == marker) {
        found.push_back({pid, *start});
        break;
      }
  }
  return found;
}

// Children of this process, orphans that it inherited among them.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  for (pid_t pid : allProcesses()) {
    std::ifstream in(fmt::format("/proc/{}/stat", pid));
    std::ostringstream text;
    text << in.rdbuf();
    const std::string stat = text.str();
    const size_t paren = stat.rfind(')');
    if (paren == std::string::npos) continue;
    std::istringstream rest(stat.substr(paren + 1));
    char state = 0;
    pid_t parent = 0;
    if (rest >> state >> parent && parent == getpid()) found.push_back(pid);
  }
  return found;
}

// As a subreaper this process becomes the parent of whatever a dead rank leaves, so repeating the look reaches all depths.
void killDescendants() {
  for (int round = 0; round < 200; ++round) {
    const std::vector<pid_t> pids = children();
    if (pids.empty()) return;
    for (pid_t pid : pids) kill(pid, SIGKILL);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {}
    std::this_thread::sleep_for(std::chrono::milliseconds(round < 10 ? 1 : 10));
  }
}

void record(const std::string &folder, const Json &line) {
  const int fd = open((folder + "/ranks.jsonl").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return;
  const std::string text = line.dump() + "\n";
  // One write: lines of different ranks never mix.
  if (write(fd, text.data(), text.size()) < 0) fmt::print(stderr, "kftc: cannot record the rank: {}\n", std::strerror(errno));
  close(fd);
}

int rankNumber() {
  for (const char *name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char *value = std::getenv(name)) return std::atoi(value);
  return 0;
}

bool redirect(int target, const std::string &path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  const bool ok = dup2(fd, target) >= 0;
  close(fd);
  return ok;
}

} // namespace

int sweep(const std::string &runDirectory, double seconds, int &left) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::vector<pid_t> seen;
  for (;;) {
    const std::vector<ProcessRef> found = marked(runDirectory);
    left = static_cast<int>(found.size());
    for (const ProcessRef &process : found) {
      if (std::find(seen.begin(), seen.end(), process.pid) == seen.end()) seen.push_back(process.pid);
      process.signal(SIGKILL);
    }
    if (found.empty() || std::chrono::steady_clock::now() >= end) return static_cast<int>(seen.size());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

int rankStarterMain(const std::vector<std::string> &arguments) {
  const pid_t parent = getppid();
  std::string folder;
  std::vector<std::string> temporary;
  size_t at = 0;
  if (at < arguments.size()) folder = arguments[at++];
  for (; at + 1 < arguments.size() && arguments[at] == "--tmp"; at += 2) temporary.push_back(arguments[at + 1]);
  if (folder.empty() || at + 1 >= arguments.size() || arguments[at] != "--") {
    fmt::print(stderr, "kftc {}: started by `kftc run` only\n", RankStarterArg);
    return 64;
  }
  std::vector<char *> program;
  for (size_t i = at + 1; i < arguments.size(); ++i) program.push_back(const_cast<char *>(arguments[i].c_str()));
  program.push_back(nullptr);

  const int rank = rankNumber();
  for (const auto &[target, suffix] : {std::pair{STDOUT_FILENO, "out"}, std::pair{STDERR_FILENO, "err"}})
    if (!redirect(target, fmt::format("{}/rank-{:04}.{}", folder, rank, suffix), O_WRONLY | O_CREAT | O_APPEND)) {
      fmt::print(stderr, "kftc: rank {}: cannot write in {}: {}\n", rank, folder, std::strerror(errno));
      return static_cast<int>(Exit::InputOutput);
    }
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);

  // SIGTERM and not SIGKILL when mpirun dies: there is something to tidy up first.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t awaited, before;
  sigemptyset(&awaited);
  for (int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&awaited, number);
  sigprocmask(SIG_BLOCK, &awaited, &before);
  auto orphaned = [&] { return getppid() != parent || parent == 1; };

  const pid_t starter = getpid();
  const pid_t child = fork();
  if (child < 0) {
    fmt::print(stderr, "kftc: rank {}: cannot start a process: {}\n", rank, std::strerror(errno));
    return static_cast<int>(Exit::Unavailable);
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != starter) _exit(1); // it died before the line above
    sigemptyset(&before);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    // mpirun's own temporary files are in the run directory; the rank's go where the user has them.
    if (const char *folder = std::getenv("KFT_TMPDIR")) setenv("TMPDIR", folder, 1);
    else unsetenv("TMPDIR");
    unsetenv("KFT_TMPDIR");
    execv(program[0], program.data());
    fmt::print(stderr, "kftc: cannot execute {}: {}\n", program[0], std::strerror(errno));
    std::fflush(stderr);
    _exit(static_cast<int>(Exit::Unavailable));
  }
  record(folder, {{"event", "started"}, {"rank", rank}, {"pid", child}, {"start", startTime(child).value_or(0)}, {"starter", starter},
                  {"starterStart", startTime(starter).value_or(0)}, {"host", hostName()}, {"time", timestamp()}});

  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended == child) {
      killDescendants();
      Json line{{"event", "exited"}, {"rank", rank}};
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
      const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      if (signal) line["signal"] = signal;
      else line["code"] = code;
      line["time"] = timestamp();
      record(folder, line);
      if (signal) return static_cast<int>(Exit::SignalBase) + signal;
      // To mpirun a stop on request is no failure: it would kill the ranks that are still writing.
      return code == static_cast<int>(Exit::Stopped) ? 0 : code;
    }
    if (ended > 0) continue;
    if (orphaned()) {
      kill(child, SIGKILL);
      killDescendants();
      record(folder, {{"event", "exited"}, {"rank", rank}, {"signal", SIGKILL}, {"reason", "the launcher is gone"}, {"time", timestamp()}});
      for (const std::string &path : temporary) {
        std::error_code error;
        fs::remove_all(path, error);
      }
      return static_cast<int>(Exit::RankLost);
    }
    // A look now and then besides: a signal that came while its parent was changing may say nothing.
    const timespec second{1, 0};
    sigtimedwait(&awaited, nullptr, &second);
  }
}

} // namespace kft::run
