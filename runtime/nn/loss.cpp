#include "runtime/nn/loss.h"
#include "runtime/plan/error.h"

namespace kft::run {

Loss::Loss(const Spec &spec, const DataPlan &data, int64_t outputs) : outputs_(outputs) {
  auto refuse = [](const std::string &text) { throw Error(ExitCode::Invalid, text); };
  bool classes = data.targetKind == "class";
  if (spec.kind == "cross_entropy")
    kind_ = Kind::CrossEntropy;
  else if (spec.kind == "mse")
    kind_ = Kind::MeanSquaredError;
  else
    refuse("this engine has no loss `" + spec.kind + "`");
  if (hasClasses() && !classes)
    refuse("cross_entropy needs class labels, but the plan's targets are `" + data.targetKind + "`");
  if (!hasClasses() && classes) refuse("mse needs real targets, but the plan's targets are classes");
  if (hasClasses() && data.classes != outputs)
    refuse("the plan has " + std::to_string(data.classes) + " classes, but the model has " + std::to_string(outputs) +
           " outputs");
  if (!hasClasses() && data.targetWidth != outputs)
    refuse("the plan has " + std::to_string(data.targetWidth) + " targets a row, but the model has " +
           std::to_string(outputs) + " outputs");
  divisor_ = hasClasses() ? 1 : double(outputs);
}

LossSums Loss::evaluate(const float *outputs, const int32_t *classes, const float *reals, float *gradient, int64_t rows,
                        int64_t globalRows) const {
  float scale = float(1 / (double(globalRows) * divisor_));
  if (hasClasses()) return kernels().softmaxCrossEntropy(outputs, classes, gradient, scale, rows, outputs_);
  return kernels().squaredError(outputs, reals, gradient, scale, rows * outputs_);
}

} // namespace kft::run
