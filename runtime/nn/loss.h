// What a network is trained to make small. Gradients are scaled by the true global batch, so that adding them over
// ranks gives the gradient of the batch's mean.
#pragma once

#include "runtime/plan/run_plan.h"
#include "runtime/tensor/kernels.h"

namespace kft::run {

class Loss {
public:
  // Throws Error for a loss this engine does not have, or one that does not fit the data's targets.
  Loss(const Spec &spec, const DataPlan &data, int64_t outputs);

  bool hasClasses() const { return kind_ == Kind::CrossEntropy; }
  // Of `rows` rows: the sums, and in `gradient` the derivative of (sum of losses) / globalRows by the outputs.
  LossSums evaluate(const float *outputs, const int32_t *classes, const float *reals, float *gradient, int64_t rows,
                    int64_t globalRows) const;
  // Sums over all rows to the figures people know.
  double mean(const LossSums &sums, int64_t rows) const { return sums.loss / double(rows) / divisor_; }
  double accuracy(const LossSums &sums, int64_t rows) const { return sums.second / double(rows); }
  double meanAbsoluteError(const LossSums &sums, int64_t rows) const { return sums.second / double(rows) / divisor_; }

private:
  enum class Kind : uint8_t { CrossEntropy, MeanSquaredError } kind_;
  int64_t outputs_;
  double divisor_; // of a row's loss: mse is a mean over the row's outputs too
};

} // namespace kft::run
