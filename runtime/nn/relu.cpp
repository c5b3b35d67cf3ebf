// y = max(x, 0). Usually taken over by the dense layer before it; this is for every other place.
#include "runtime/nn/layer.h"

#include <cstring>

namespace kft::run {

namespace {

class Relu final : public Layer {
public:
  void forward(const float *in, float *out, int64_t rows, const Pass &) override {
    if (in != out) std::memcpy(out, in, size_t(rows * outputs) * sizeof(float));
    kernels().biasActivation(out, nullptr, Activation::Relu, rows, outputs);
  }
  void backward(const float *, const float *out, float *outGradient, float *inGradient, int64_t rows,
                const Pass &) override {
    if (!inGradient) return;
    kernels().biasActivationBackward(outGradient, out, nullptr, Activation::Relu, false, rows, outputs);
    if (inGradient != outGradient) std::memcpy(inGradient, outGradient, size_t(rows * outputs) * sizeof(float));
  }
  bool worksInPlace() const override { return true; }
  bool keepsSign() const override { return true; }
  Reads readsOutput() const override { return Reads::Sign; }
  Activation activation() const override { return Activation::Relu; }
};

} // namespace

std::unique_ptr<Layer> makeRelu(const LayerPlan &, LayerPlace) { return std::make_unique<Relu>(); }

} // namespace kft::run
