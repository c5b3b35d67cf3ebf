#include "runtime/optim/optimizer.h"
#include "runtime/plan/error.h"
#include "runtime/tensor/kernels.h"

#include <cmath>

namespace kft::run {

Optimizer::Optimizer(const Spec &spec, int64_t parameters) : count_(parameters) {
  auto need = [&](bool condition, const char *text) {
    if (!condition) throw Error(ExitCode::Invalid, "optimizer `" + spec.kind + "`: " + text);
  };
  rate_ = spec.number("lr", -1), weightDecay_ = spec.number("weight_decay", 0);
  if (spec.kind == "sgd") {
    kind_ = Kind::Sgd, momentum_ = spec.number("momentum", 0), nesterov_ = spec.flag("nesterov", false);
    need(momentum_ >= 0 && momentum_ < 1, "momentum is at least 0 and below 1");
    need(!nesterov_ || momentum_ > 0, "nesterov needs a momentum above 0");
    if (momentum_ > 0) first_ = Buffer(parameters);
  } else if (spec.kind == "adam" || spec.kind == "adamw") {
    kind_ = spec.kind == "adam" ? Kind::Adam : Kind::AdamW;
    beta1_ = spec.number("beta1", 0.9), beta2_ = spec.number("beta2", 0.999), epsilon_ = spec.number("eps", 1e-8);
    if (kind_ == Kind::AdamW) weightDecay_ = spec.number("weight_decay", 0.01);
    need(beta1_ >= 0 && beta1_ < 1 && beta2_ >= 0 && beta2_ < 1, "beta1 and beta2 are at least 0 and below 1");
    need(epsilon_ > 0, "eps is above 0");
    first_ = Buffer(parameters), second_ = Buffer(parameters);
  } else {
    throw Error(ExitCode::Invalid, "this engine has no optimizer `" + spec.kind + "`");
  }
  need(std::isfinite(rate_) && rate_ >= 0, "the learning rate `lr` is at least 0");
  need(weightDecay_ >= 0, "weight_decay is at least 0");
}

double Optimizer::step(float *parameters, const float *gradient, double rate, double gradientScale) {
  ++steps_;
  if (kind_ == Kind::Sgd) {
    SgdStep step{float(rate), float(momentum_), float(weightDecay_), nesterov_, float(gradientScale)};
    return kernels().sgd(parameters, gradient, momentum_ > 0 ? first_.data() : nullptr, count_, step);
  }
  AdamStep step{float(rate),
                float(beta1_),
                float(beta2_),
                float(epsilon_),
                float(weightDecay_),
                float(1 - beta1_),
                float(1 - beta2_),
                kind_ == Kind::AdamW,
                float(1 - std::pow(beta1_, double(steps_))),
                float(1 - std::pow(beta2_, double(steps_))),
                float(gradientScale)};
  return kernels().adam(parameters, gradient, first_.data(), second_.data(), count_, step);
}

} // namespace kft::run
