// The learning rate as a function of the step alone, so that a resumed run needs no state for it.
#pragma once

#include "runtime/plan/run_plan.h"

namespace kft::run {

class Schedule {
public:
  // Throws Error for a schedule this engine does not have. `totalSteps` is where cosine ends.
  Schedule(const Spec &spec, double baseRate, int64_t totalSteps);
  // Of step 0, 1, …: rises linearly over the warm-up and reaches the base rate at its last step, then follows the
  // curve. Cosine starts from the base rate and would reach base · final one step after the last, so that no step is
  // lost.
  double rate(int64_t step) const;

private:
  enum class Kind : uint8_t { Constant, Cosine } kind_;
  double base_, final_ = 0;
  int64_t warmup_, total_;
};

} // namespace kft::run
