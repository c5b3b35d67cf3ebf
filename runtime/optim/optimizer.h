// One step over all parameters at once: they lie in one buffer, and so does the optimizer's state.
#pragma once

#include "runtime/plan/run_plan.h"
#include "runtime/tensor/tensor.h"

namespace kft::run {

class Optimizer {
public:
  // Throws Error for an optimizer this engine does not have, or numbers out of bounds.
  Optimizer(const Spec &spec, int64_t parameters);

  double baseRate() const { return rate_; }
  // `gradientScale` below 1 clips. Returns the squared norm of the gradient as it came.
  double step(float *parameters, const float *gradient, double rate, double gradientScale);

private:
  enum class Kind : uint8_t { Sgd, Adam, AdamW } kind_;
  double rate_, momentum_ = 0, weightDecay_ = 0, beta1_ = 0, beta2_ = 0, epsilon_ = 0;
  bool nesterov_ = false;
  int64_t count_, steps_ = 0;
  Buffer first_, second_; // velocity; or the moments
};

} // namespace kft::run
