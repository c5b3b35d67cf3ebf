// The loop: forward, backward, reduce, update, report. All memory is taken in the constructor; a step allocates
// nothing.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/data/dataset.h"
#include "runtime/nn/loss.h"
#include "runtime/nn/model.h"
#include "runtime/optim/optimizer.h"
#include "runtime/optim/schedule.h"
#include "runtime/train/report.h"

#include <csignal>

namespace kft::run {

class Trainer {
public:
  // `stop`: set by a signal handler; may be null. Throws Error when plan and data do not fit.
  Trainer(const Plan &plan, const Dataset &data, Communicator &communicator, Report &report,
          const volatile std::sig_atomic_t *stop = nullptr);

  // Done, Stopped or Diverged; the same on all ranks. Afterwards the model is what was trained, unless it diverged.
  ExitCode run();

  const Model &model() const { return model_; }
  int64_t steps() const { return done_; }
  int64_t plannedSteps() const { return totalSteps_; }
  // What stopped it, as a sentence; empty when nothing did.
  const std::string &cause() const { return cause_; }
  const char *reason() const { return reason_; } // as in an `end` line
  double epoch() const { return double(done_) / double(stepsPerEpoch_); }

private:
  // Floats behind the gradients, summed over the ranks by the same reduction.
  enum Extra : int64_t { LossSum, SecondSum, StopWanted, ExtraCount };

  struct Sums {
    double loss, second, squaredNorm;
    bool stop;
  };
  Sums step(int64_t epoch, Slice batch, const EpochOrder &order, double rate, double &waiting);
  void load(Part part, const EpochOrder *order, int64_t position, int64_t rows);
  EvalFacts evaluate();
  bool worseForTooLong(const EvalFacts &facts);

  const Plan &plan_;
  const Dataset &data_;
  Communicator &communicator_;
  Report &report_;
  const volatile std::sig_atomic_t *stop_;
  int64_t stepsPerEpoch_, totalSteps_, pieceRows_;
  Model model_;
  Loss loss_;
  Optimizer optimizer_;
  Schedule schedule_;
  std::vector<int32_t> classes_; // (pieceRows)
  std::vector<float> reals_;     // (pieceRows, targetWidth)
  int64_t done_ = 0;
  double best_ = 0;
  int64_t evaluations_ = 0, withoutGain_ = 0;
  std::string cause_;
  const char *reason_ = "finished";
};

} // namespace kft::run
