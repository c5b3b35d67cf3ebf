// Drops each value with probability `rate` and scales the rest by 1/(1 - rate). The mask is a function of seed, layer,
// sample and element: the backward pass computes it again instead of storing it, and any division of a batch gives the
// same one.
#include "runtime/nn/layer.h"
#include "runtime/plan/error.h"
#include "runtime/tensor/random.h"

#include <cstring>

namespace kft::run {

namespace {

class Dropout final : public Layer {
public:
  Dropout(float rate, LayerPlace place) : rate_(rate), place_(std::move(place)) {}

  void forward(const float *in, float *out, int64_t rows, const Pass &pass) override {
    if (pass.training && rate_ > 0)
      apply(in, out, rows, pass);
    else if (in != out)
      std::memcpy(out, in, size_t(rows * outputs) * sizeof(float));
  }
  void backward(const float *, const float *, float *outGradient, float *inGradient, int64_t rows,
                const Pass &pass) override {
    if (!inGradient) return;
    if (pass.training && rate_ > 0)
      apply(outGradient, inGradient, rows, pass);
    else if (inGradient != outGradient)
      std::memcpy(inGradient, outGradient, size_t(rows * outputs) * sizeof(float));
  }
  bool worksInPlace() const override { return true; }
  bool keepsSign() const override { return true; }

private:
  void apply(const float *in, float *out, int64_t rows, const Pass &pass) const {
    for (int64_t r = 0; r < rows; ++r)
      kernels().dropout(
          in + r * outputs, out + r * outputs,
          streamKey(place_.seed, Purpose::Dropout, {uint64_t(place_.index), uint64_t(pass.firstSample + r)}), rate_,
          outputs);
  }

  float rate_;
  LayerPlace place_;
};

} // namespace

std::unique_ptr<Layer> makeDropout(const LayerPlan &plan, LayerPlace place) {
  double rate = numberArg(plan, "rate");
  if (!(rate >= 0 && rate < 1))
    throw Error(ExitCode::Invalid, plan.source, 0, "a dropout rate is at least 0 and below 1");
  return std::make_unique<Dropout>(float(rate), std::move(place));
}

} // namespace kft::run
