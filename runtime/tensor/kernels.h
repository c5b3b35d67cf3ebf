// The cheap loops around the matrix products, each one pass over memory. There is a plain version, written to be read,
// and fast ones for each level of the processor; a test compares them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kft::run {

enum class Activation : uint8_t { None, Relu, Tanh };

struct LossSums {
  double loss = 0; // summed over rows; not scaled
  double second =
      0; // cross entropy: rows whose largest output is the label; squared error: sum of absolute differences
};

struct SgdStep {
  float rate, momentum, weightDecay;
  bool nesterov;
  float scale; // of the gradient: below 1 when it is clipped
};

struct AdamStep {
  float rate, beta1, beta2, epsilon, weightDecay;
  float rest1, rest2;            // 1 - beta, rounded once: as a difference of floats it would be off by 5e-5
  bool decoupled;                 // AdamW: the decay acts on the weights, not through the gradient
  float correction1, correction2; // 1 - beta^t
  float scale;
};

struct Kernels {
  const char *name;

  // values (rows, width): += bias (null: none), then the activation; in place.
  void (*biasActivation)(float *values, const float *bias, Activation activation, int64_t rows, int64_t width);
  // gradient (rows, width) *= the activation's derivative, found from its output; biasGradient (width; null: none) = or
  // += the column sums.
  void (*biasActivationBackward)(float *gradient, const float *output, float *biasGradient, Activation activation,
                                 bool accumulate, int64_t rows, int64_t width);
  // out = in · mask / (1 - rate); element i is kept when its random number, of the stream `key` at counter i, is at
  // least `rate`. in may be out.
  void (*dropout)(const float *in, float *out, uint64_t key, float rate, int64_t count);
  // logits (rows, width); gradient (rows, width) = (softmax - one-hot) · scale.
  LossSums (*softmaxCrossEntropy)(const float *logits, const int32_t *labels, float *gradient, float scale,
                                  int64_t rows, int64_t width);
  // gradient = 2 · (values - targets) · scale; sums over all `count` elements.
  LossSums (*squaredError)(const float *values, const float *targets, float *gradient, float scale, int64_t count);
  // Both update the parameters and return the sum of squares of the (unscaled) gradient, so that finding a NaN costs no
  // pass of its own.
  double (*sgd)(float *parameters, const float *gradient, float *velocity, int64_t count,
                const SgdStep &step); // velocity null: no momentum
  double (*adam)(float *parameters, const float *gradient, float *first, float *second, int64_t count,
                 const AdamStep &step);
  double (*sumOfSquares)(const float *values, int64_t count);
};

const Kernels &kernels(); // the fastest that this processor runs; KFT_KERNELS=plain|base|avx2|avx512 asks for another
const Kernels &plainKernels();
std::vector<const Kernels *> availableKernels(); // all that this processor runs, plain first, fastest last

} // namespace kft::run
