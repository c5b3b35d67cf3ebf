// What a run tells while it goes on. Rank 0 appends JSON lines to RUN/metrics.jsonl, and sends the same lines through a
// pipe if it was given one; a reader that is slow or gone never holds up the training. Every rank keeps
// RUN/ranks/rank-NNNN.json up to date.
//
// Lines, in this order; `t` is seconds since the rank's start:
//   {"event":"begin","t","job","planHash","ranks","seed","parameters","steps","stepsPerEpoch","epochs","batch","trainRows","testRows",
//    "blas","kernels"}                                        `steps` is the number planned
//   {"event":"step","t","step","epoch","loss","accuracy"?,"lr","ms","samplesPerSecond","commExposed","gradNorm"}
//        after step number `step` (from 1); `epoch` counts what has been read, in parts of an epoch; `loss` and
//        `accuracy` are of that step's batch; `ms` and `samplesPerSecond` are means since the line before;
//        `commExposed` is the share of the time in which this rank waited for the gradients' reduction
//   {"event":"eval","t","step","epoch","part":"test","rows","loss","accuracy"? or "mae"?}
//   {"event":"saved","t","step","path","bytes"}               path relative to the run directory
//   {"event":"end","t","step","epoch","reason","code","seconds","samples"}
//        reason: "finished", "early-stop", "stopped", "diverged"
// A number that is not finite is written as null.
//
// At most some 5,000 `step` lines are written: all of a short run, every n-th of a long one, further ones when a second
// passes without, always the first and the last. Lines reach the file within 100 ms, at once for all but `step`.
#pragma once

#include "runtime/plan/run_plan.h"

#include <chrono>
#include <string>

namespace kft::run {

struct StepFacts {
  int64_t step = 0; // steps done
  double epoch = 0, loss = 0, accuracy = 0, rate = 0, gradientNorm = 0;
  bool hasAccuracy = false;
  int64_t samples = 0;             // of this step, over all ranks
  double seconds = 0, waiting = 0; // of this step; of them in the reduction
};

struct EvalFacts {
  int64_t step = 0, rows = 0;
  double epoch = 0, loss = 0, second = 0;
  const char *secondName = nullptr; // "accuracy", "mae"
};

class Report {
public:
  // No directory: nothing is written. Throws Error when the run directory cannot be written to.
  Report(const std::string &runDirectory, int rank, int progressFile = -1);
  ~Report();
  Report(const Report &) = delete;

  void begin(const Plan &plan, int64_t steps, int64_t stepsPerEpoch, int64_t trainRows, int64_t testRows,
             const std::string &blas, const std::string &kernels);
  void step(const StepFacts &facts);
  void eval(const EvalFacts &facts);
  void saved(int64_t step, const std::string &path, int64_t bytes);
  void end(int64_t step, double epoch, const char *reason, int code);
  void flush();

private:
  using Clock = std::chrono::steady_clock;
  double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void append(std::string_view line, bool atOnce);
  void flushIfDue();
  void writeRankFile(const char *state);

  std::string directory_, rankFile_;
  int rank_, file_ = -1, progress_;
  Clock::time_point start_ = Clock::now();
  std::string buffer_; // lines that wait; reserved, so that a step allocates nothing
  double lastFlush_ = 0, lastLine_ = 0, lastRankFile_ = 0;
  int64_t stride_ = 1, steps_ = 0, step_ = 0, samples_ = 0;
  // Since the last step line.
  int64_t pendingSteps_ = 0, pendingSamples_ = 0;
  double pendingSeconds_ = 0, pendingWaiting_ = 0;
};

} // namespace kft::run
