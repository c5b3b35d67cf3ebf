// Y (rows, units) = X (rows, inputs) · Wᵀ + b, then the activation that follows, if any: one product and one pass over
// Y. W is (units, inputs), as PyTorch stores it, so that exported files fit.
#include "runtime/nn/layer.h"
#include "runtime/plan/error.h"
#include "runtime/tensor/blas.h"
#include "runtime/tensor/random.h"

#include <cmath>
#include <numbers>

namespace kft::run {

namespace {

class Dense final : public Layer {
public:
  Dense(int64_t inputs, int64_t units, bool bias, LayerPlace place)
      : inputs_(inputs), units_(units), bias_(bias), place_(std::move(place)) {}

  std::vector<ParameterShape> parameters() const override {
    std::vector<ParameterShape> shapes{{"weight", {units_, inputs_}}};
    if (bias_) shapes.push_back({"bias", {units_}});
    return shapes;
  }

  void place(float *values, float *gradients) override {
    weight_ = values, weightGradient_ = gradients;
    if (bias_) offset_ = values + units_ * inputs_, offsetGradient_ = gradients + units_ * inputs_;
  }

  // default: uniform, with the variance that keeps the signal's size through the activation that follows (2/inputs
  // before relu, 1/inputs otherwise). Biases start at 0.
  void initialize() override {
    const uint64_t key = streamKey(place_.seed, Purpose::Weights, {uint64_t(place_.index)});
    const double fan = double(inputs_);
    double bound = std::sqrt(3 * (place_.followedBy == Activation::Relu ? 2 : 1) / fan);
    if (place_.init == "xavier")
      bound = std::sqrt(6 / (fan + double(units_)));
    else if (place_.init == "zeros")
      bound = 0;
    else if (place_.init != "default" && place_.init != "he")
      throw Error(ExitCode::Invalid, "this engine knows no start of weights `" + place_.init + "`");
    for (int64_t i = 0; i < units_ * inputs_; ++i) {
      if (place_.init == "he") { // normal, two uniform numbers each (Box and Muller)
        double u = 1 - double(randomUnit(key, uint64_t(2 * i))), v = double(randomUnit(key, uint64_t(2 * i + 1)));
        weight_[i] = float(std::sqrt(2 / fan) * std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v));
      } else {
        weight_[i] = float((double(randomUnit(key, uint64_t(i))) * 2 - 1) * bound);
      }
    }
    for (int64_t i = 0; bias_ && i < units_; ++i)
      offset_[i] = 0;
  }

  void forward(const float *in, float *out, int64_t rows, const Pass &) override {
    gemm(Transpose::No, Transpose::Yes, rows, units_, inputs_, in, weight_, 0, out);
    kernels().biasActivation(out, offset_, activation_, rows, units_);
  }

  void backward(const float *in, const float *out, float *outGradient, float *inGradient, int64_t rows,
                const Pass &pass) override {
    kernels().biasActivationBackward(outGradient, out, offsetGradient_, activation_, pass.accumulate, rows, units_);
    // dW (units, inputs) = dYᵀ · X;  dX (rows, inputs) = dY · W
    gemm(Transpose::Yes, Transpose::No, units_, inputs_, rows, outGradient, in, pass.accumulate ? 1 : 0,
         weightGradient_);
    if (inGradient) gemm(Transpose::No, Transpose::No, rows, inputs_, units_, outGradient, weight_, 0, inGradient);
  }

  bool takeOver(Activation next) override { return activation_ = next, true; }
  Reads readsOutput() const override {
    return activation_ == Activation::None   ? Reads::Nothing
           : activation_ == Activation::Relu ? Reads::Sign
                                             : Reads::Values;
  }

private:
  int64_t inputs_, units_;
  bool bias_;
  LayerPlace place_;
  Activation activation_ = Activation::None;
  float *weight_ = nullptr, *weightGradient_ = nullptr; // (units, inputs)
  float *offset_ = nullptr, *offsetGradient_ = nullptr; // (units), or null
};

} // namespace

std::unique_ptr<Layer> makeDense(const LayerPlan &plan, LayerPlace place) {
  if (plan.inputShape.size() != 1)
    throw Error(ExitCode::Invalid, plan.source, 0, "a dense layer takes flat input; put `flatten()` before it");
  auto units = int64_t(numberArg(plan, "units"));
  if (units < 1 || plan.outputShape != std::vector<int64_t>{units})
    throw Error(ExitCode::Invalid, plan.source, 0, "the plan's dense layer has units that do not fit its output");
  return std::make_unique<Dense>(plan.inputShape[0], units, flagArg(plan, "bias", true), std::move(place));
}

} // namespace kft::run
