#include "runtime/launch/supervisor.h"
#include "runtime/launch/exit_codes.h"
#include "runtime/launch/rank_starter.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <memory>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ;

namespace kft::run {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

// A handler may only count; the loop does the rest.
volatile std::sig_atomic_t stopSignals = 0, lastSignal = 0;
void onStop(int number) {
  stopSignals = stopSignals + 1;
  lastSignal = number;
}
void onChild(int) {}

class Signals {
public:
  Signals() {
    stopSignals = 0;
    lastSignal = 0;
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < numbers.size(); ++i) {
      // `nohup` means that the end of the terminal is not the end of the run.
      if (numbers[i] == SIGHUP && sigaction(SIGHUP, nullptr, &old_[i]) == 0 && old_[i].sa_handler == SIG_IGN) continue;
      action.sa_handler = numbers[i] == SIGPIPE ? SIG_IGN : numbers[i] == SIGCHLD ? onChild : onStop;
      sigaction(numbers[i], &action, &old_[i]);
      if (numbers[i] != SIGPIPE) sigaddset(&blocked, numbers[i]);
    }
    // Open only inside ppoll, so that no signal falls between the look and the wait.
    sigprocmask(SIG_BLOCK, &blocked, &before_);
  }
  ~Signals() {
    for (size_t i = 0; i < numbers.size(); ++i) sigaction(numbers[i], &old_[i], nullptr);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  void wait(int milliseconds) {
    const timespec time{milliseconds / 1000, (milliseconds % 1000) * 1'000'000L};
    sigset_t open = before_;
    for (int number : numbers) sigdelset(&open, number);
    ppoll(nullptr, 0, &time, &open);
  }

private:
  static constexpr std::array<int, 6> numbers{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD, SIGPIPE};
  std::array<struct sigaction, 6> old_;
  sigset_t before_;
};

struct Rank {
  ProcessRef process, starter;
  bool ended = false;
  int code = 0, signal = 0;
  bool failed() const { return ended && (code != 0 || signal != 0); }
};

std::string signalName(int number) {
  const char *text = sigabbrev_np(number);
  return text ? fmt::format("SIG{}", text) : fmt::format("signal {}", number);
}

// A second pair of eyes: kftc may be killed when no rank is there yet to notice, and mpirun's files would stay. A process
// that only waits for the other end of a pipe to close, and then ends and removes what is left.
class Guardian {
public:
  Guardian(const std::string &runDirectory, const std::vector<std::string> &folders) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return; // without it everything works but this
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[1]);
      watch(ends[0], runDirectory, folders);
      _exit(0);
    }
    close(ends[0]);
    if (pid_ > 0) end_ = ends[1];
    else close(ends[1]);
  }
  ~Guardian() {
    if (end_ < 0) return;
    if (write(end_, "", 1) < 0) {} // it is gone, and so is its work
    close(end_);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  }
  Guardian(const Guardian &) = delete;
  Guardian &operator=(const Guardian &) = delete;

private:
  static void watch(int end, const std::string &runDirectory, const std::vector<std::string> &folders) {
    setsid();
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE}) signal(number, SIG_IGN);
    prctl(PR_SET_NAME, "kftc-guardian");
    // Nobody who reads our output waits for this process.
    if (const int null = open("/dev/null", O_RDWR); null >= 0)
      for (int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, standard);
    char byte = 0;
    ssize_t count = 0;
    while ((count = read(end, &byte, 1)) < 0 && errno == EINTR) {}
    if (count != 0) return;
    int left = 0;
    sweep(runDirectory, 5, left);
    for (const std::string &folder : folders) {
      std::error_code error;
      fs::remove_all(folder, error);
    }
  }

  pid_t pid_ = -1;
  int end_ = -1;
};

class Run {
public:
  Run(const RankProgram &program, RunDirectory &directory, const SupervisorEvents &events)
      : program_(program), directory_(directory), events_(events) {}

  ~Run() { tidy(); }
  Run(const Run &) = delete;
  Run &operator=(const Run &) = delete;

  Outcome go();

private:
  void tidy() {
    std::error_code error;
    for (const std::string &folder : {tmp_, shared_})
      if (!folder.empty()) fs::remove_all(folder, error);
    guardian_.reset();
  }
  void start();
  void readRecords();
  void checkLost();
  void checkDirectory();
  void handleStops();
  void handleFailure();
  void signalRanks(int number);
  bool anyAlive() const;
  void become(RunState state) {
    if (state_ == state) return;
    state_ = state;
    directory_.event("state", {{"state", name(state)}});
    if (events_.state) events_.state(state);
  }
  Outcome judge();
  double since(Clock::time_point point) const { return std::chrono::duration<double>(Clock::now() - point).count(); }

  const RankProgram &program_;
  RunDirectory &directory_;
  const SupervisorEvents &events_;
  RunState state_ = RunState::Starting;
  std::map<int, Rank> ranks_;
  pid_t mpirun_ = 0;
  bool mpirunEnded_ = false;
  int mpirunStatus_ = 0;
  std::string shared_, tmp_;
  std::streamoff recordsRead_ = 0;
  std::string torn_;
  Clock::time_point begin_ = Clock::now(), lastLook_ = begin_, lastDirectoryLook_ = begin_;
  bool directoryGone_ = false;
  std::optional<int> firstFailed_;
  std::optional<Clock::time_point> failedAt_, stopAt_;
  int stopsSeen_ = 0, killStage_ = 0, runningAtFailure_ = 0;
  bool deadlineHit_ = false, announcedAll_ = false;
  bool stoppedEarly_ = false; // before every rank was there to be asked
  std::unique_ptr<Guardian> guardian_;
};

void Run::start() {
  // Everything that mpirun and MPI put down for the time of the run, in two folders that are ours to remove.
  tmp_ = directory_.file("tmp");
  const std::string id = fmt::format("kft-{}-{}", getpid(), startTime(getpid()).value_or(0));
  // Each rank maps some megabytes there. Containers often have 64 MB of it, and a page too many is SIGBUS, not an error.
  const int64_t room = freeDiskBytes("/dev/shm");
  shared_ = access("/dev/shm", W_OK) == 0 && room >= program_.ranks * (int64_t{8} << 20) ? "/dev/shm/" + id : tmp_;
  std::error_code error;
  fs::create_directories(tmp_, error);
  if (!fs::create_directories(shared_, error) && error)
    throw LaunchError(Exit::InputOutput, fmt::format("cannot make `{}`: {}", shared_, error.message()));
  guardian_ = std::make_unique<Guardian>(directory_.path(), std::vector{tmp_, shared_});

  std::vector<std::string> words = mpirunArguments(program_, shared_);
  words.insert(words.end(), {program_.starter, RankStarterArg, directory_.logFolder(), "--tmp", tmp_, "--tmp", shared_, "--"});
  words.insert(words.end(), program_.command.begin(), program_.command.end());

  std::map<std::string, std::string> env;
  for (char **entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (const size_t equals = text.find('='); equals != std::string::npos) env[text.substr(0, equals)] = text.substr(equals + 1);
  }
  // A run inside somebody else's mpirun or allocation is still a run of its own.
  std::erase_if(env, [](const auto &entry) {
    const std::string &key = entry.first;
    return key.starts_with("OMPI_COMM_") || key.starts_with("OMPI_UNIVERSE") || key.starts_with("OMPI_LOCAL") || key.starts_with("PMIX_") ||
           key.starts_with("PMI_") || key.starts_with("OMPI_MCA_ess") || key.starts_with("OMPI_MCA_orte_");
  });
  for (const auto &[key, value] : program_.env) env[key] = value;
  env[RunMarker] = directory_.path();
  if (auto found = env.find("TMPDIR"); found != env.end()) env["KFT_TMPDIR"] = found->second;
  env["TMPDIR"] = tmp_;
  if (program_.allowRoot) env["OMPI_ALLOW_RUN_AS_ROOT"] = env["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  std::vector<std::string> entries;
  for (const auto &[key, value] : env) entries.push_back(key + "=" + value);
  std::vector<char *> argv, envp;
  for (std::string &word : words) argv.push_back(word.data());
  for (std::string &entry : entries) envp.push_back(entry.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  const int log = open((directory_.logFolder() + "/launcher.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log < 0) throw LaunchError(Exit::InputOutput, fmt::format("cannot write `{}/logs/attempt-1/launcher.log`: {}", directory_.shown(), std::strerror(errno)));
  std::string line = "$";
  for (const std::string &word : words) line += " " + word;
  line += "\n";
  if (write(log, line.data(), line.size()) < 0) {} // mpirun's own words follow and fail in the same way

  const pid_t self = getpid();
  mpirun_ = fork();
  if (mpirun_ < 0) throw LaunchError(Exit::Unavailable, fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (mpirun_ == 0) {
    // A group of its own: Ctrl-C on the terminal is for us to pass on.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(1);
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD, SIGPIPE}) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execve(program_.mpirun.c_str(), argv.data(), envp.data());
    const char *text = "cannot execute mpirun\n";
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) {}
    _exit(127);
  }
  close(log);
  setpgid(mpirun_, mpirun_);
  directory_.event("started", {{"mpirun", mpirun_}, {"start", startTime(mpirun_).value_or(0)}, {"ranks", program_.ranks}});
}

void Run::readRecords() {
  std::ifstream in(directory_.logFolder() + "/ranks.jsonl", std::ios::binary);
  if (!in || !in.seekg(recordsRead_)) return;
  std::string text((std::istreambuf_iterator<char>(in)), {});
  recordsRead_ += static_cast<std::streamoff>(text.size());
  text = torn_ + text;
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const Json line = Json::parse(text.substr(begin, end - begin), nullptr, false);
    if (!line.is_object()) continue;
    Rank &rank = ranks_[line.value("rank", 0)];
    if (line.value("event", "") == std::string("started")) {
      rank.process = {line.value("pid", 0), line.value("start", uint64_t{0})};
      rank.starter = {line.value("starter", 0), line.value("starterStart", uint64_t{0})};
    } else if (!rank.ended) {
      rank.ended = true;
      rank.code = line.value("code", 0);
      rank.signal = line.value("signal", 0);
      // A signal that comes before the engine listens ends the rank at once; what mpirun does to the others is its echo.
      if (stopAt_ && rank.signal == SIGTERM) stoppedEarly_ = true;
      const bool asked = rank.code == static_cast<int>(Exit::Stopped) || stoppedEarly_;
      // Somebody may have asked the rank itself.
      if (asked && !stopAt_) stopAt_ = Clock::now();
      // A starter that lost mpirun ends its rank itself: an effect, not the cause.
      if (rank.failed() && !asked && !firstFailed_ && killStage_ == 0 && !line.contains("reason")) firstFailed_ = line.value("rank", 0);
    }
  }
  torn_ = text.substr(begin);
  if (!announcedAll_ && static_cast<int>(ranks_.size()) == program_.ranks) {
    announcedAll_ = true;
    if (state_ == RunState::Starting) become(RunState::Running);
    if (events_.started) events_.started(program_.ranks);
  }
}

// A rank whose starter was killed too leaves no record of its end.
void Run::checkLost() {
  if (since(lastLook_) < 0.2) return;
  lastLook_ = Clock::now();
  for (auto &[number, rank] : ranks_) {
    if (rank.ended || rank.process.pid == 0 || rank.process.alive() || rank.starter.alive()) continue;
    readRecords();
    if (rank.ended) continue;
    rank.ended = true;
    rank.signal = SIGKILL;
    if (!firstFailed_ && killStage_ == 0 && !stoppedEarly_) firstFailed_ = number;
  }
}

bool Run::anyAlive() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const auto &entry) { return !entry.second.ended && entry.second.process.alive(); });
}

void Run::signalRanks(int number) {
  for (auto &[index, rank] : ranks_)
    if (!rank.ended) rank.process.signal(number);
}

// Nothing can be saved any more, so nothing is gained by going on.
void Run::checkDirectory() {
  if (directoryGone_ || since(lastDirectoryLook_) < 0.5) return;
  lastDirectoryLook_ = Clock::now();
  if (directory_.isThere()) return;
  directoryGone_ = true;
  if (killStage_ == 0) killStage_ = 2;
}

void Run::handleStops() {
  if (program_.deadlineSeconds > 0 && !deadlineHit_ && !stopAt_ && since(begin_) >= program_.deadlineSeconds) {
    deadlineHit_ = true;
    directory_.event("deadline", {{"seconds", program_.deadlineSeconds}});
    stopAt_ = Clock::now();
    become(RunState::Stopping);
    signalRanks(SIGTERM);
  }
  if (stopSignals != stopsSeen_) {
    stopsSeen_ = stopSignals;
    directory_.event("stop requested", {{"signal", signalName(lastSignal)}, {"times", stopsSeen_}});
    if (events_.stopRequested) events_.stopRequested(stopsSeen_, lastSignal);
    if (!stopAt_) stopAt_ = Clock::now();
    become(RunState::Stopping);
    if (stopsSeen_ == 1 && !deadlineHit_) {
      // Ranks that are not there yet cannot be asked; there is nothing to save either.
      if (announcedAll_) {
        signalRanks(SIGTERM);
      } else {
        stoppedEarly_ = true;
        kill(mpirun_, SIGTERM);
      }
    } else {
      killStage_ = std::max(killStage_, std::min(stopsSeen_ - 1, 2));
    }
  }
  if (stopAt_ && killStage_ == 0 && since(*stopAt_) > program_.graceSeconds) {
    directory_.event("grace is over", {{"seconds", program_.graceSeconds}});
    killStage_ = 1;
  }
  // Stage 1: now, through mpirun, which tidies up; stage 2 and a second later: for certain.
  static constexpr double Patience = 1.5;
  if (killStage_ == 1) {
    if (!failedAt_) {
      failedAt_ = Clock::now();
      kill(mpirun_, SIGTERM);
    } else if (since(*failedAt_) > Patience) {
      killStage_ = 2;
    }
  }
  if (killStage_ == 2) {
    if (!failedAt_) failedAt_ = Clock::now();
    kill(mpirun_, SIGKILL);
    int left = 0;
    sweep(directory_.path(), 2, left);
  }
}

void Run::handleFailure() {
  if (!firstFailed_ || killStage_ == 2) return;
  if (!failedAt_) {
    failedAt_ = Clock::now();
    runningAtFailure_ = static_cast<int>(std::count_if(ranks_.begin(), ranks_.end(), [](const auto &entry) { return !entry.second.ended; }));
    const Rank &rank = ranks_[*firstFailed_];
    Json details{{"rank", *firstFailed_}};
    if (rank.signal) details["signal"] = signalName(rank.signal);
    else details["code"] = rank.code;
    directory_.event("rank failed", details);
    return;
  }
  // The others wait for a message that will not come. A moment for those that are about to fail with a reason of their own.
  if (since(*failedAt_) > 0.15 && anyAlive()) signalRanks(SIGKILL);
  // mpirun would sit out a second of its own before it believes that they are gone. What it leaves lies in our folders.
  if (since(*failedAt_) > 0.3 && announcedAll_ && std::all_of(ranks_.begin(), ranks_.end(), [](const auto &entry) { return entry.second.ended; })) kill(mpirun_, SIGKILL);
  if (since(*failedAt_) > 2) kill(mpirun_, SIGTERM);
  if (since(*failedAt_) > 4) kill(mpirun_, SIGKILL);
}

Outcome Run::go() {
  Signals signals;
  if (events_.state) events_.state(state_);
  start();
  while (!mpirunEnded_) {
    signals.wait(ranks_.empty() ? 5 : 25);
    int status = 0;
    const pid_t ended = waitpid(mpirun_, &status, WNOHANG);
    if (ended == mpirun_) {
      mpirunEnded_ = true;
      mpirunStatus_ = status;
    }
    readRecords();
    checkLost();
    checkDirectory();
    handleStops();
    handleFailure();
    if (events_.tick) events_.tick();
  }
  // Starters of an mpirun that was killed need a moment for their own tidying.
  for (int i = 0; i < 40 && std::any_of(ranks_.begin(), ranks_.end(), [](const auto &entry) { return !entry.second.ended && entry.second.starter.alive(); }); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    readRecords();
  }
  int left = 0;
  sweep(directory_.path(), 3, left);
  readRecords();
  tidy();
  Outcome outcome = judge();
  outcome.left = left;
  if (failedAt_) outcome.stopSeconds = since(*failedAt_);
  if (events_.tick) events_.tick();
  become(outcome.state);
  return outcome;
}

// mpirun names the rank that called MPI_Abort and its code, which the record may not have: mpirun is quick to kill.
std::optional<std::pair<int, int>> abortIn(const std::string &log) {
  std::ifstream in(log);
  std::optional<std::pair<int, int>> found;
  int rank = -1;
  for (std::string line; std::getline(in, line);) {
    if (const size_t at = line.find("MPI_ABORT was invoked on rank "); at != std::string::npos) rank = std::atoi(line.c_str() + at + 30);
    if (const size_t at = line.find("with errorcode "); at != std::string::npos && rank >= 0 && !found) found = {rank, std::atoi(line.c_str() + at + 15)};
  }
  return found;
}

std::string errorLog(int rank) { return fmt::format("logs/attempt-1/rank-{:04}.err", rank); }

Outcome Run::judge() {
  Outcome outcome;
  const std::string launcherLog = "logs/attempt-1/launcher.log";
  outcome.stopped = runningAtFailure_;
  if (directoryGone_ || !directory_.isThere()) {
    outcome.state = RunState::Failed;
    outcome.exitCode = static_cast<int>(Exit::InputOutput);
    outcome.cause = fmt::format("the run directory `{}` was removed while the run was going on", directory_.shown());
    return outcome;
  }
  if (deadlineHit_) {
    outcome.state = RunState::Stopped;
    outcome.exitCode = static_cast<int>(Exit::Deadline);
    outcome.cause = fmt::format("the deadline of {:g} s passed", program_.deadlineSeconds);
    return outcome;
  }
  const bool allEnded = announcedAll_ && std::all_of(ranks_.begin(), ranks_.end(), [](const auto &entry) { return entry.second.ended; });
  const bool allWell = allEnded && std::none_of(ranks_.begin(), ranks_.end(), [](const auto &entry) { return entry.second.failed(); });
  const int code = WIFEXITED(mpirunStatus_) ? WEXITSTATUS(mpirunStatus_) : -1;
  // A stop that comes after the last step changes nothing.
  if (allWell && (code == 0 || stopAt_)) {
    outcome.state = RunState::Finished;
    outcome.exitCode = 0;
    return outcome;
  }
  if (killStage_ > 0 || stoppedEarly_) {
    outcome.state = RunState::Stopped;
    // Before the first rank was there, nothing is lost by the stop.
    const bool early = killStage_ == 0;
    outcome.exitCode = early ? static_cast<int>(Exit::Stopped) : static_cast<int>(Exit::SignalBase) + (lastSignal ? lastSignal : SIGTERM);
    outcome.cause = early ? "stopped before the first step" : stopsSeen_ > 1 ? "stopped at once, as asked" : fmt::format("the ranks did not stop within {:g} s", program_.graceSeconds);
    return outcome;
  }
  const auto aborted = abortIn(directory_.file(launcherLog));
  if (aborted && aborted->second != 0) {
    const auto found = ranks_.find(aborted->first);
    // A rank that was killed by a signal first is the cause, and the abort its echo.
    const bool echo = firstFailed_ && *firstFailed_ != aborted->first && ranks_[*firstFailed_].signal != SIGTERM && ranks_[*firstFailed_].signal != SIGKILL;
    if (found != ranks_.end() && !echo) {
      firstFailed_ = aborted->first;
      found->second.signal = 0;
      found->second.code = aborted->second & 0xff;
    }
  }
  if (firstFailed_) {
    // Of ranks that agreed to fail only one tells why, and its record need not be the first.
    if (const Rank &first = ranks_[*firstFailed_]; first.signal == 0 && lastLines(directory_.file(errorLog(*firstFailed_)), 1).empty())
      for (const auto &[number, other] : ranks_)
        if (other.ended && other.signal == 0 && other.code == first.code && !lastLines(directory_.file(errorLog(number)), 1).empty()) {
          firstFailed_ = number;
          break;
        }
    const Rank &rank = ranks_[*firstFailed_];
    outcome.state = RunState::Failed;
    outcome.rank = firstFailed_;
    outcome.exitCode = rank.signal ? static_cast<int>(Exit::SignalBase) + rank.signal : rank.code;
    outcome.cause = rank.signal ? fmt::format("rank {} was killed by {}", *firstFailed_, signalName(rank.signal))
                                : fmt::format("rank {} exited with code {}", *firstFailed_, rank.code);
    const std::string base = fmt::format("logs/attempt-1/rank-{:04}", *firstFailed_);
    for (const char *suffix : {".err", ".out"}) {
      outcome.logFile = base + suffix;
      outcome.lastLines = lastLines(directory_.file(outcome.logFile), 6);
      if (!outcome.lastLines.empty()) break;
    }
    if (outcome.lastLines.empty()) outcome.logFile = base + ".err";
    return outcome;
  }
  if (stopAt_ && allEnded && std::none_of(ranks_.begin(), ranks_.end(), [](const auto &entry) { return entry.second.signal != 0; })) {
    outcome.state = RunState::Stopped;
    outcome.exitCode = static_cast<int>(Exit::Stopped);
    outcome.cause = "stopped on request";
    return outcome;
  }
  outcome.state = RunState::Failed;
  outcome.logFile = launcherLog;
  outcome.lastLines = lastLines(directory_.file(launcherLog), 8);
  std::erase_if(outcome.lastLines, [](const std::string &line) { return line.starts_with("$ "); });
  if (!announcedAll_) {
    outcome.exitCode = static_cast<int>(Exit::Unavailable);
    outcome.cause = WIFSIGNALED(mpirunStatus_) ? fmt::format("mpirun was killed by {} before all ranks had started", signalName(WTERMSIG(mpirunStatus_)))
                                               : fmt::format("mpirun ended with code {} before all ranks had started", code);
  } else {
    outcome.exitCode = static_cast<int>(Exit::RankLost);
    outcome.cause = WIFSIGNALED(mpirunStatus_) ? fmt::format("mpirun was killed by {}", signalName(WTERMSIG(mpirunStatus_)))
                                               : fmt::format("mpirun ended with code {}", code);
  }
  return outcome;
}

} // namespace

const char *name(RunState state) {
  switch (state) {
  case RunState::Starting: return "starting";
  case RunState::Running: return "running";
  case RunState::Stopping: return "stopping";
  case RunState::Finished: return "finished";
  case RunState::Stopped: return "stopped";
  case RunState::Failed: return "failed";
  }
  return "failed";
}

std::vector<std::string> lastLines(const std::string &path, size_t count) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return {};
  // A rank may have written gigabytes, or one line of a hundred megabytes.
  static constexpr std::streamoff Window = 16384;
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(0, size - Window));
  std::string text((std::istreambuf_iterator<char>(in)), {});
  std::vector<std::string> lines;
  std::string line;
  auto push = [&] {
    while (!line.empty() && line.back() == ' ') line.pop_back();
    lines.push_back(std::exchange(line, {}));
  };
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\r') {
      if (!line.empty() || c == '\n') push();
    } else if (c == '\t') {
      line += "  ";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += '?';
    } else {
      line += c;
    }
  }
  if (!line.empty()) push();
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  return lines;
}

std::vector<std::string> mpirunArguments(const RankProgram &program, const std::string &shared) {
  std::vector<std::string> words{program.mpirun, "-n", std::to_string(program.ranks)};
  auto set = [&](const char *key, const std::string &value) { words.insert(words.end(), {"--mca", key, value}); };
  // This machine only: no look for an allocation, no remote agent, no network transport. It halves the time to the first step.
  words.insert(words.end(), {"--host", fmt::format("localhost:{}", program.ranks)});
  set("plm", "isolated");
  set("pml", "ob1");
  set("btl", "self,vader");
  set("btl_vader_backing_directory", shared);
  set("osc_sm_backing_directory", shared);
  if (program.bindToCores) {
    words.insert(words.end(), {"--bind-to", "core", "--map-by", fmt::format("slot:PE={}", program.threadsPerRank)});
  } else {
    words.insert(words.end(), {"--bind-to", "none"});
  }
  // Ranks that share a core must let each other go on while they wait.
  if (program.oversubscribe) set("mpi_yield_when_idle", "1");
  return words;
}

// Blocked and not handled: a pending signal waits for the supervisor's first look.
static sigset_t stopSet() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&set, number);
  return set;
}

StopSignals::StopSignals() {
  const sigset_t set = stopSet();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN); // a reader that goes away must not take the exit code with it
}

StopSignals::~StopSignals() {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) signal(number, SIG_IGN);
  const sigset_t set = stopSet();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

Outcome supervise(const RankProgram &program, RunDirectory &directory, const SupervisorEvents &events) {
  return Run(program, directory, events).go();
}

} // namespace kft::run
