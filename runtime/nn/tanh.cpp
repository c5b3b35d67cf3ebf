// y = tanh(x), dx = dy · (1 - y²). Usually taken over by the dense layer before it.
#include "runtime/nn/layer.h"

#include <cstring>

namespace kft::run {

namespace {

class Tanh final : public Layer {
public:
  void forward(const float *in, float *out, int64_t rows, const Pass &) override {
    if (in != out) std::memcpy(out, in, size_t(rows * outputs) * sizeof(float));
    kernels().biasActivation(out, nullptr, Activation::Tanh, rows, outputs);
  }
  void backward(const float *, const float *out, float *outGradient, float *inGradient, int64_t rows,
                const Pass &) override {
    if (!inGradient) return;
    kernels().biasActivationBackward(outGradient, out, nullptr, Activation::Tanh, false, rows, outputs);
    if (inGradient != outGradient) std::memcpy(inGradient, outGradient, size_t(rows * outputs) * sizeof(float));
  }
  bool worksInPlace() const override { return true; }
  Reads readsOutput() const override { return Reads::Values; }
  Activation activation() const override { return Activation::Tanh; }
};

} // namespace

std::unique_ptr<Layer> makeTanh(const LayerPlan &, LayerPlace) { return std::make_unique<Tanh>(); }

} // namespace kft::run
