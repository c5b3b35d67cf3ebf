#include "runtime/optim/schedule.h"
#include "runtime/plan/error.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kft::run {

Schedule::Schedule(const Spec &spec, double baseRate, int64_t totalSteps)
    : base_(baseRate), warmup_(std::max<int64_t>(0, int64_t(spec.number("warmup", 0)))), total_(totalSteps) {
  if (spec.kind == "constant" || spec.kind.empty())
    kind_ = Kind::Constant;
  else if (spec.kind == "cosine")
    kind_ = Kind::Cosine, final_ = spec.number("final", 0);
  else
    throw Error(ExitCode::Invalid, "this engine has no schedule `" + spec.kind + "`");
}

double Schedule::rate(int64_t step) const {
  if (step < warmup_) return base_ * double(step + 1) / double(warmup_);
  if (kind_ == Kind::Constant) return base_;
  int64_t length = total_ - warmup_;
  double progress = length > 0 ? std::min(1.0, double(step - warmup_) / double(length)) : 1;
  return base_ * (final_ + (1 - final_) * 0.5 * (1 + std::cos(std::numbers::pi * progress)));
}

} // namespace kft::run
