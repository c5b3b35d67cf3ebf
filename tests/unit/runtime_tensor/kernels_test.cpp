// Every fast version against the plain one, at sizes around the vector widths, with special values where they matter.
#include "runtime/tensor/kernels.h"
#include "runtime/tensor/random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace kft::run;

namespace {

using Floats = std::vector<float>;

Floats some(int64_t count, uint64_t key, float range = 2) {
  Floats out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = (randomUnit(key, i) * 2 - 1) * range;
  return out;
}

void near(const Floats &a, const Floats &b, float tolerance, const char *what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::fabs(b[i]))) << what << " at " << i;
}

class KernelsTest : public testing::TestWithParam<const Kernels *> {
protected:
  const Kernels &fast = *GetParam(), &plain = plainKernels();
};

const int64_t widths[] = {1, 2, 3, 7, 8, 10, 15, 16, 17, 31, 33, 64, 130, 1000};

} // namespace

TEST_P(KernelsTest, BiasActivation) {
  for (int64_t width : widths)
    for (Activation activation : {Activation::None, Activation::Relu, Activation::Tanh})
      for (bool withBias : {false, true}) {
        Floats a = some(5 * width, 1), b = a, bias = some(width, 2);
        fast.biasActivation(a.data(), withBias ? bias.data() : nullptr, activation, 5, width);
        plain.biasActivation(b.data(), withBias ? bias.data() : nullptr, activation, 5, width);
        near(a, b, 1e-6f, "forward");
        for (bool accumulate : {false, true}) {
          Floats ga = some(5 * width, 3), gb = ga, ba = some(width, 4), bb = ba;
          fast.biasActivationBackward(ga.data(), b.data(), withBias ? ba.data() : nullptr, activation, accumulate, 5,
                                      width);
          plain.biasActivationBackward(gb.data(), b.data(), withBias ? bb.data() : nullptr, activation, accumulate, 5,
                                       width);
          near(ga, gb, 1e-6f, "gradient");
          near(ba, bb, 2e-6f, "bias gradient");
        }
      }
}

TEST_P(KernelsTest, TanhOverItsWholeRange) {
  Floats a;
  for (float x = -20; x < 20; x += 0.00173f)
    a.push_back(x);
  for (float x : {0.0f, -0.0f, 1e-30f, 1e-5f, 0.625f, 100.0f, -1e30f, std::numeric_limits<float>::infinity()})
    a.push_back(x);
  Floats b = a;
  fast.biasActivation(a.data(), nullptr, Activation::Tanh, 1, int64_t(a.size()));
  plain.biasActivation(b.data(), nullptr, Activation::Tanh, 1, int64_t(b.size()));
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 3e-7f * std::fabs(b[i])) << i;
}

TEST_P(KernelsTest, NanStaysNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (Activation activation : {Activation::None, Activation::Relu, Activation::Tanh}) {
    Floats values(20, nan), bias(20, 1);
    fast.biasActivation(values.data(), bias.data(), activation, 1, 20);
    for (float x : values)
      EXPECT_TRUE(std::isnan(x)) << int(activation);
  }
  Floats logits = some(20, 1), gradient(20), parameters(20), velocity(20);
  logits[7] = nan;
  int32_t label = 3;
  EXPECT_TRUE(std::isnan(fast.softmaxCrossEntropy(logits.data(), &label, gradient.data(), 1, 1, 20).loss));
  gradient.assign(20, 0), gradient[13] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(
      std::isfinite(fast.sgd(parameters.data(), gradient.data(), velocity.data(), 20, {0.1f, 0.9f, 0, false, 1})));
}

TEST_P(KernelsTest, DropoutIsTheSameMask) {
  for (int64_t count : widths)
    for (float rate : {0.0f, 0.1f, 0.5f, 0.93f}) {
      Floats in = some(count, 5), a(in.size()), b(in.size());
      fast.dropout(in.data(), a.data(), 42, rate, count);
      plain.dropout(in.data(), b.data(), 42, rate, count);
      for (size_t i = 0; i < a.size(); ++i)
        ASSERT_EQ(a[i] == 0, b[i] == 0) << i;
      near(a, b, 1e-6f, "dropout");
      fast.dropout(in.data(), in.data(), 42, rate, count);
      EXPECT_EQ(in, a) << "in place";
    }
  Floats ones(100000, 1), out(ones.size());
  fast.dropout(ones.data(), out.data(), 7, 0.3f, int64_t(ones.size()));
  double kept = 0;
  for (float x : out)
    kept += x != 0;
  EXPECT_NEAR(kept / double(ones.size()), 0.7, 0.01);
}

TEST_P(KernelsTest, CrossEntropy) {
  for (int64_t width : widths) {
    Floats logits = some(6 * width, 6, 30), ga(logits.size()), gb(logits.size());
    std::vector<int32_t> labels;
    for (int64_t r = 0; r < 6; ++r)
      labels.push_back(int32_t((r * 7) % width));
    LossSums a = fast.softmaxCrossEntropy(logits.data(), labels.data(), ga.data(), 0.25f, 6, width);
    LossSums b = plain.softmaxCrossEntropy(logits.data(), labels.data(), gb.data(), 0.25f, 6, width);
    EXPECT_NEAR(a.loss, b.loss, 1e-4);
    EXPECT_EQ(a.second, b.second);
    near(ga, gb, 2e-6f, "gradient");
  }
  Floats equal(10, 1.5f), gradient(10);
  int32_t first = 0, later = 4;
  EXPECT_EQ(fast.softmaxCrossEntropy(equal.data(), &first, gradient.data(), 1, 1, 10).second, 1);
  EXPECT_EQ(fast.softmaxCrossEntropy(equal.data(), &later, gradient.data(), 1, 1, 10).second, 0);
}

TEST_P(KernelsTest, SquaredError) {
  for (int64_t count : {1, 9, 100, 4096, 5000}) {
    Floats values = some(count, 8), targets = some(count, 9), ga(values.size()), gb(values.size());
    LossSums a = fast.squaredError(values.data(), targets.data(), ga.data(), 0.5f, count);
    LossSums b = plain.squaredError(values.data(), targets.data(), gb.data(), 0.5f, count);
    EXPECT_NEAR(a.loss, b.loss, 1e-4 * (1 + b.loss));
    EXPECT_NEAR(a.second, b.second, 1e-4 * (1 + b.second));
    near(ga, gb, 1e-6f, "gradient");
  }
}

TEST_P(KernelsTest, Optimizers) {
  for (int64_t count : {1, 9, 100, 4096, 5000}) {
    for (bool momentum : {false, true})
      for (bool nesterov : {false, true}) {
        Floats pa = some(count, 1), pb = pa, va = some(count, 2), vb = va, g = some(count, 3);
        SgdStep step{0.1f, 0.9f, 0.01f, nesterov, 0.5f};
        double a = fast.sgd(pa.data(), g.data(), momentum ? va.data() : nullptr, count, step);
        double b = plain.sgd(pb.data(), g.data(), momentum ? vb.data() : nullptr, count, step);
        EXPECT_NEAR(a, b, 1e-5 * b);
        near(pa, pb, 1e-6f, "parameters");
        near(va, vb, 1e-6f, "velocity");
      }
    for (bool decoupled : {false, true}) {
      Floats pa = some(count, 1), pb = pa, ma = some(count, 2), mb = ma, va = some(count, 4), g = some(count, 3);
      for (float &x : va)
        x = std::fabs(x);
      Floats vb = va;
      AdamStep step{0.01f, 0.9f, 0.999f, 1e-8f, 0.1f, 0.1f, 0.001f, decoupled, 0.3f, 0.01f, 0.7f};
      double a = fast.adam(pa.data(), g.data(), ma.data(), va.data(), count, step);
      double b = plain.adam(pb.data(), g.data(), mb.data(), vb.data(), count, step);
      EXPECT_NEAR(a, b, 1e-5 * b);
      near(pa, pb, 2e-6f, "parameters");
      near(ma, mb, 1e-6f, "first moment");
      near(va, vb, 1e-6f, "second moment");
      EXPECT_NEAR(fast.sumOfSquares(g.data(), count), b, 1e-5 * b);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, KernelsTest, testing::ValuesIn(availableKernels()),
                         [](const auto &info) { return std::string(info.param->name); });
