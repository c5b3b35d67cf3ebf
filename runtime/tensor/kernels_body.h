// The fast loops, written so that the compiler turns each into vector code. Included once per processor level, with
// KFT_LEVEL naming the namespace. Nothing inline from the standard library may be used here: the linker keeps one copy
// of such a function, and might keep the one that older processors cannot run.
#include "runtime/tensor/kernels.h"

namespace kft::run::KFT_LEVEL {

#define KFT_INLINE static inline __attribute__((always_inline))

// Partial sums are floats over this many elements, and a double over them.
static constexpr int64_t Block = 4096;

// e^x to 2 ulp. The reduced argument's power of two is read off a sum whose unit is 1, so that no conversion meets a
// NaN.
KFT_INLINE float exponential(float x) {
  x = x > 88.3762626f ? 88.3762626f : x;
  x = x < -87.3365447f ? -87.3365447f : x;
  float shifted = x * 1.44269504f + 12582912.0f;
  float n = shifted - 12582912.0f;
  float r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  int32_t bits = (__builtin_bit_cast(int32_t, shifted) - 0x4b400000 + 127) << 23;
  return p * __builtin_bit_cast(float, bits);
}

KFT_INLINE float hyperbolicTangent(float x) {
  float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  float small = p * z * x + x;
  float magnitude = __builtin_fabsf(x);
  float large = 1.0f - 2.0f / (exponential(2.0f * magnitude) + 1.0f);
  large = __builtin_copysignf(large, x);
  return magnitude < 0.625f ? small : large;
}

template <Activation A>
KFT_INLINE float activate(float x) {
  if (A == Activation::Relu) return x < 0.0f ? 0.0f : x; // keeps a NaN
  if (A == Activation::Tanh) return hyperbolicTangent(x);
  return x;
}

template <Activation A>
KFT_INLINE float derivative(float y) {
  if (A == Activation::Relu) return y > 0.0f ? 1.0f : 0.0f;
  if (A == Activation::Tanh) return 1.0f - y * y;
  return 1.0f;
}

template <Activation A>
static void forwardRows(float *__restrict values, const float *__restrict bias, int64_t rows, int64_t width) {
  if (!bias) {
#pragma omp simd
    for (int64_t i = 0; i < rows * width; ++i)
      values[i] = activate<A>(values[i]);
    return;
  }
  for (int64_t r = 0; r < rows; ++r, values += width)
#pragma omp simd
    for (int64_t c = 0; c < width; ++c)
      values[c] = activate<A>(values[c] + bias[c]);
}

static void biasActivation(float *values, const float *bias, Activation activation, int64_t rows, int64_t width) {
  switch (activation) {
  case Activation::None:
    if (bias) forwardRows<Activation::None>(values, bias, rows, width);
    break;
  case Activation::Relu:
    forwardRows<Activation::Relu>(values, bias, rows, width);
    break;
  case Activation::Tanh:
    forwardRows<Activation::Tanh>(values, bias, rows, width);
    break;
  }
}

template <Activation A>
static void backwardRows(float *__restrict gradient, const float *__restrict output, float *__restrict biasGradient,
                         bool accumulate, int64_t rows, int64_t width) {
  if (!biasGradient) {
#pragma omp simd
    for (int64_t i = 0; i < rows * width; ++i)
      gradient[i] *= derivative<A>(output[i]);
    return;
  }
  if (!accumulate) __builtin_memset(biasGradient, 0, size_t(width) * sizeof(float));
  for (int64_t r = 0; r < rows; ++r, gradient += width, output += width)
#pragma omp simd
    for (int64_t c = 0; c < width; ++c) {
      float g = A == Activation::None ? gradient[c] : gradient[c] * derivative<A>(output[c]);
      if (A != Activation::None) gradient[c] = g;
      biasGradient[c] += g;
    }
}

static void biasActivationBackward(float *gradient, const float *output, float *biasGradient, Activation activation,
                                   bool accumulate, int64_t rows, int64_t width) {
  switch (activation) {
  case Activation::None:
    if (biasGradient) backwardRows<Activation::None>(gradient, output, biasGradient, accumulate, rows, width);
    break;
  case Activation::Relu:
    backwardRows<Activation::Relu>(gradient, output, biasGradient, accumulate, rows, width);
    break;
  case Activation::Tanh:
    backwardRows<Activation::Tanh>(gradient, output, biasGradient, accumulate, rows, width);
    break;
  }
}

// The same numbers as random.h gives; spelled out because of the rule above.
static void dropout(const float *in, float *out, uint64_t key, float rate, int64_t count) {
  const float scale = 1.0f / (1.0f - rate);
  // An element is kept when its 24 random bits are at least `rate` of all: as integers, without rounding.
  const uint64_t limit = uint64_t(__builtin_ceilf(rate * 0x1p24f));
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    uint64_t x = key + 0x9e3779b97f4a7c15u * (uint64_t(i) + 1);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x = (x ^ x >> 31) >> 40;
    out[i] = x >= limit ? in[i] * scale : 0.0f;
  }
}

static LossSums softmaxCrossEntropy(const float *logits, const int32_t *labels, float *gradient, float scale,
                                    int64_t rows, int64_t width) {
  LossSums sums;
  for (int64_t r = 0; r < rows; ++r, logits += width, gradient += width) {
    const float *__restrict x = logits;
    float *__restrict g = gradient;
    float largest = x[0];
#pragma omp simd reduction(max : largest)
    for (int64_t c = 0; c < width; ++c)
      largest = x[c] > largest ? x[c] : largest;
    float total = 0;
#pragma omp simd reduction(+ : total)
    for (int64_t c = 0; c < width; ++c)
      total += g[c] = exponential(x[c] - largest);
    const float factor = scale / total;
#pragma omp simd
    for (int64_t c = 0; c < width; ++c)
      g[c] *= factor;
    const int32_t label = labels[r];
    g[label] -= scale;
    sums.loss += double(__builtin_logf(total) + largest - x[label]);
    bool correct = x[label] == largest;
    for (int32_t c = 0; correct && c < label; ++c)
      correct = x[c] != largest; // of equals the first one counts
    sums.second += correct;
  }
  return sums;
}

static LossSums squaredError(const float *values, const float *targets, float *__restrict gradient, float scale,
                             int64_t count) {
  LossSums sums;
  for (int64_t start = 0; start < count; start += Block) {
    const int64_t end = count - start < Block ? count : start + Block;
    float squares = 0, absolute = 0;
#pragma omp simd reduction(+ : squares, absolute)
    for (int64_t i = start; i < end; ++i) {
      float difference = values[i] - targets[i];
      gradient[i] = 2.0f * difference * scale;
      squares += difference * difference;
      absolute += __builtin_fabsf(difference);
    }
    sums.loss += double(squares), sums.second += double(absolute);
  }
  return sums;
}

template <bool Momentum, bool Nesterov>
static double sgdLoop(float *__restrict parameters, const float *__restrict gradient, float *__restrict velocity,
                      int64_t count, const SgdStep &step) {
  const float rate = step.rate, momentum = step.momentum, decay = step.weightDecay, scale = step.scale;
  double total = 0;
  for (int64_t start = 0; start < count; start += Block) {
    const int64_t end = count - start < Block ? count : start + Block;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int64_t i = start; i < end; ++i) {
      float raw = gradient[i];
      squares += raw * raw;
      float g = raw * scale + decay * parameters[i];
      if (Momentum) {
        float v = momentum * velocity[i] + g;
        velocity[i] = v;
        g = Nesterov ? g + momentum * v : v;
      }
      parameters[i] -= rate * g;
    }
    total += double(squares);
  }
  return total;
}

static double sgd(float *parameters, const float *gradient, float *velocity, int64_t count, const SgdStep &step) {
  if (!velocity) return sgdLoop<false, false>(parameters, gradient, velocity, count, step);
  return step.nesterov ? sgdLoop<true, true>(parameters, gradient, velocity, count, step)
                       : sgdLoop<true, false>(parameters, gradient, velocity, count, step);
}

static double adam(float *__restrict parameters, const float *__restrict gradient, float *__restrict first,
                   float *__restrict second, int64_t count, const AdamStep &step) {
  const float beta1 = step.beta1, beta2 = step.beta2, rest1 = step.rest1, rest2 = step.rest2,
              scale = step.scale, epsilon = step.epsilon;
  const float rate = step.rate / step.correction1, root = 1 / __builtin_sqrtf(step.correction2);
  const float keep = step.decoupled ? 1 - step.rate * step.weightDecay : 1.0f,
              decay = step.decoupled ? 0.0f : step.weightDecay;
  double total = 0;
  for (int64_t start = 0; start < count; start += Block) {
    const int64_t end = count - start < Block ? count : start + Block;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int64_t i = start; i < end; ++i) {
      float raw = gradient[i], p = parameters[i];
      squares += raw * raw;
      float g = raw * scale + decay * p;
      float m = beta1 * first[i] + rest1 * g;
      float v = beta2 * second[i] + rest2 * g * g;
      first[i] = m, second[i] = v;
      parameters[i] = p * keep - rate * m / (__builtin_sqrtf(v) * root + epsilon);
    }
    total += double(squares);
  }
  return total;
}

static double sumOfSquares(const float *values, int64_t count) {
  double total = 0;
  for (int64_t start = 0; start < count; start += Block) {
    const int64_t end = count - start < Block ? count : start + Block;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int64_t i = start; i < end; ++i)
      squares += values[i] * values[i];
    total += double(squares);
  }
  return total;
}

#define KFT_TEXT(x) #x
#define KFT_NAME(x) KFT_TEXT(x)
extern const Kernels table;
const Kernels table{
    KFT_NAME(KFT_LEVEL), biasActivation, biasActivationBackward, dropout, softmaxCrossEntropy, squaredError, sgd, adam,
    sumOfSquares};

} // namespace kft::run::KFT_LEVEL
