// One run on this machine from plan to exit code: what must be true before, the run directory, the ranks, what is shown.
#pragma once

#include "runtime/launch/environment.h"
#include "runtime/launch/progress.h"
#include "runtime/launch/supervisor.h"
#include "runtime/plan/run_plan.h"

#include <string>
#include <vector>

namespace kft::run {

struct LaunchOptions {
  std::string runDirectory; // empty: runs/<job>-<date>-<time>
  bool oversubscribe = false, allowRoot = false;
  enum class Bind : uint8_t { Auto, Core, None } bind = Bind::Auto;
  double deadlineSeconds = 0, graceSeconds = 30;
  Environment env;                // the job's own
  std::vector<FrozenFile> frozen; // job.kft, inputs/…, resolved.json
  std::string place;              // of the job in its file: "digits.kft:60"
  std::string name;               // of the run directory: the job's name where it is fit for a file
};

// Why a run cannot start here; in the order of looking.
struct Problem {
  enum class Kind : uint8_t { RankProgram, Mpirun, Slots, Root, Memory } kind;
  std::string detail; // what was searched, what there is
  int64_t need = 0, have = 0;
};

struct Preflight {
  std::string rankProgram, mpirun, starter;
  Slots slots;
  std::string container; // the sign that allows root, when root runs this
  bool asRoot = false;
  int threadsPerRank = 1;
  bool bindToCores = false;
  std::vector<Problem> problems;
};

// KFT_RANK, beside this program, ../libexec/kft, PATH. Empty when there is none; `searched` says where.
std::string findRankProgram(std::string &searched);
Preflight preflight(const Plan &plan, const LaunchOptions &options);

// Everything from the run directory to the last line. Returns the exit code of `kftc run`. Results on `fileDescriptor`, what went
// wrong on standard error. Throws LaunchError when nothing could be started.
int launch(const Plan &plan, const Preflight &ready, const LaunchOptions &options, int fileDescriptor, ProgressStyle style);

} // namespace kft::run
