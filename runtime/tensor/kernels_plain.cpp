// The reference: one formula a line, in double where it sums.
#include "runtime/tensor/kernels.h"
#include "runtime/tensor/random.h"

#include <cmath>

namespace kft::run {

namespace {

void biasActivation(float *values, const float *bias, Activation activation, int64_t rows, int64_t width) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < width; ++c) {
      float &x = values[r * width + c];
      if (bias) x += bias[c];
      if (activation == Activation::Relu && x < 0) x = 0;
      if (activation == Activation::Tanh) x = std::tanh(x);
    }
}

void biasActivationBackward(float *gradient, const float *output, float *biasGradient, Activation activation,
                            bool accumulate, int64_t rows, int64_t width) {
  for (int64_t c = 0; c < width; ++c) {
    double sum = 0;
    for (int64_t r = 0; r < rows; ++r) {
      float &g = gradient[r * width + c], y = output[r * width + c];
      if (activation == Activation::Relu) g *= y > 0 ? 1.0f : 0.0f;
      if (activation == Activation::Tanh) g *= 1 - y * y;
      sum += double(g);
    }
    if (biasGradient) biasGradient[c] = float(sum) + (accumulate ? biasGradient[c] : 0);
  }
}

void dropout(const float *in, float *out, uint64_t key, float rate, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = randomUnit(key, uint64_t(i)) >= rate ? in[i] / (1 - rate) : 0;
}

LossSums softmaxCrossEntropy(const float *logits, const int32_t *labels, float *gradient, float scale, int64_t rows,
                             int64_t width) {
  LossSums sums;
  for (int64_t r = 0; r < rows; ++r) {
    const float *x = logits + r * width;
    int64_t best = 0;
    for (int64_t c = 1; c < width; ++c)
      if (x[c] > x[best]) best = c;
    double total = 0;
    for (int64_t c = 0; c < width; ++c)
      total += std::exp(double(x[c]) - double(x[best]));
    for (int64_t c = 0; c < width; ++c)
      gradient[r * width + c] =
          float(std::exp(double(x[c]) - double(x[best])) / total - (c == labels[r] ? 1 : 0)) * scale;
    sums.loss += std::log(total) + double(x[best]) - double(x[labels[r]]);
    sums.second += best == labels[r];
  }
  return sums;
}

LossSums squaredError(const float *values, const float *targets, float *gradient, float scale, int64_t count) {
  LossSums sums;
  for (int64_t i = 0; i < count; ++i) {
    float difference = values[i] - targets[i];
    gradient[i] = 2 * difference * scale;
    sums.loss += double(difference) * double(difference);
    sums.second += std::fabs(double(difference));
  }
  return sums;
}

double sgd(float *parameters, const float *gradient, float *velocity, int64_t count, const SgdStep &step) {
  for (int64_t i = 0; i < count; ++i) {
    float g = gradient[i] * step.scale + step.weightDecay * parameters[i];
    if (velocity) {
      velocity[i] = step.momentum * velocity[i] + g;
      g = step.nesterov ? g + step.momentum * velocity[i] : velocity[i];
    }
    parameters[i] -= step.rate * g;
  }
  return plainKernels().sumOfSquares(gradient, count);
}

double adam(float *parameters, const float *gradient, float *first, float *second, int64_t count,
            const AdamStep &step) {
  for (int64_t i = 0; i < count; ++i) {
    float g = gradient[i] * step.scale;
    if (step.decoupled)
      parameters[i] -= step.rate * step.weightDecay * parameters[i];
    else
      g += step.weightDecay * parameters[i];
    first[i] = step.beta1 * first[i] + step.rest1 * g;
    second[i] = step.beta2 * second[i] + step.rest2 * g * g;
    parameters[i] -=
        step.rate * (first[i] / step.correction1) / (std::sqrt(second[i] / step.correction2) + step.epsilon);
  }
  return plainKernels().sumOfSquares(gradient, count);
}

double sumOfSquares(const float *values, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += double(values[i]) * double(values[i]);
  return sum;
}

} // namespace

const Kernels &plainKernels() {
  static constexpr Kernels table{
      "plain", biasActivation, biasActivationBackward, dropout, softmaxCrossEntropy, squaredError, sgd,
      adam,    sumOfSquares};
  return table;
}

} // namespace kft::run
