// Starts the ranks of one host under mpirun, watches them, and ends them: by the exit records of their starters, by process id
// and start time, and last by the run's marker in their environment; never by name.
#pragma once

#include "runtime/launch/host.h"
#include "runtime/launch/run_directory.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kft::run {

struct RankProgram {
  int ranks = 1;
  int threadsPerRank = 1;
  std::vector<std::string> command; // absolute path first
  std::vector<std::pair<std::string, std::string>> env;
  std::string mpirun, starter; // absolute; the starter is a program whose first argument may be RankStarterArg
  bool oversubscribe = false, bindToCores = false, allowRoot = false;
  double deadlineSeconds = 0; // 0: none
  double graceSeconds = 30;   // from the first request to stop until it is no longer a request
};

enum class RunState { Starting, Running, Stopping, Finished, Stopped, Failed };
const char *name(RunState state);

struct Outcome {
  RunState state = RunState::Failed;
  int exitCode = 70;
  std::string cause;                 // one line: "rank 1 exited with code 3"
  std::optional<int> rank;           // the first that failed
  std::vector<std::string> lastLines; // of its log, or of the launcher's
  std::string logFile;               // relative to the run directory
  int stopped = 0;                   // other ranks that had to be ended
  double stopSeconds = 0;
  int left = 0; // processes that would not go
};

// What the supervisor tells while it works. All calls come from its own loop, at most every 30 ms.
struct SupervisorEvents {
  std::function<void(RunState)> state;
  std::function<void()> tick;
  std::function<void(int ranksStarted)> started;
  // How many times a stop was asked for, and by which signal.
  std::function<void(int times, int signal)> stopRequested;
};

// Collects the signals that ask for a stop, from its making on; whoever supervises later finds those that came before. Its
// end leaves them ignored: what is left to do then is to say how the run ended and to leave with its code.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;
};

// Blocks until everything is over. Takes SIGINT, SIGTERM, SIGHUP and SIGUSR1 for the time.
Outcome supervise(const RankProgram &program, RunDirectory &directory, const SupervisorEvents &events);

// The last lines of a file, at most so many, without blank ones at the end; control characters made harmless.
std::vector<std::string> lastLines(const std::string &path, size_t count);

// mpirun's arguments up to the program.
std::vector<std::string> mpirunArguments(const RankProgram &program, const std::string &sharedMemoryFolder);

} // namespace kft::run
