// A change of shape: rows are dense already, so nothing moves when it works in place.
#include "runtime/nn/layer.h"

#include <cstring>

namespace kft::run {

namespace {

class Flatten final : public Layer {
public:
  void forward(const float *in, float *out, int64_t rows, const Pass &) override {
    if (in != out) std::memcpy(out, in, size_t(rows * outputs) * sizeof(float));
  }
  void backward(const float *, const float *, float *outGradient, float *inGradient, int64_t rows,
                const Pass &) override {
    if (inGradient && inGradient != outGradient)
      std::memcpy(inGradient, outGradient, size_t(rows * outputs) * sizeof(float));
  }
  bool worksInPlace() const override { return true; }
  bool keepsSign() const override { return true; }
};

} // namespace

std::unique_ptr<Layer> makeFlatten(const LayerPlan &, LayerPlace) { return std::make_unique<Flatten>(); }

} // namespace kft::run
