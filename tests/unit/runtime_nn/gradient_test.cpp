// Each row of layers.def: the backward pass against central differences of the forward pass, for the input and every
// parameter, in place and not, alone and with a second pass added to the first.
#include "runtime/nn/layer.h"
#include "runtime/tensor/blas.h"
#include "runtime/tensor/random.h"
#include "tests/unit/runtime_nn/plans.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace kft::run;

namespace {

struct Row {
  const char *kind, *shapes, *parameters;
};

const Row rows[] = {
#define KFT_LAYER(kind, maker, shapes, parameters) {#kind, shapes, parameters},
#include "runtime/nn/layers.def"
};

class GradientTest : public testing::TestWithParam<Row> {
protected:
  static constexpr int64_t Batch = 3;
  void SetUp() override {
    loadBlas(1);
    plan = layer(GetParam().kind, GetParam().shapes, GetParam().parameters);
    subject = makeLayer(plan, {0, 42, "default", Activation::None});
    for (const ParameterShape &shape : subject->parameters())
      count += shape.size();
    values.resize(size_t(count)), gradients.resize(size_t(count), -77); // to see that they are set
    subject->place(values.data(), gradients.data());
    subject->initialize();
    for (size_t i = 0; i < values.size(); ++i)
      values[i] += 0.1f * randomUnit(9, i);
    in.resize(size_t(Batch * subject->inputs)), out.resize(size_t(Batch * subject->outputs)),
        weights.resize(out.size());
    // Away from 0, where relu has no derivative.
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = (randomUnit(1, i) * 0.9f + 0.1f) * (randomBits(2, i) & 1 ? 1.0f : -1.0f);
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i] = randomUnit(3, i) * 2 - 1;
  }

  // A number that depends on all outputs: their sum with `weights`.
  double value() {
    subject->forward(in.data(), out.data(), Batch, pass);
    double sum = 0;
    for (size_t i = 0; i < out.size(); ++i)
      sum += double(out[i]) * double(weights[i]);
    return sum;
  }

  double difference(float &x) {
    const float step = 1e-2f, before = x;
    x = before + step;
    double up = value(), high = double(x);
    x = before - step;
    double down = value(), low = double(x);
    x = before;
    return (up - down) / (high - low);
  }

  LayerPlan plan;
  std::unique_ptr<Layer> subject;
  Pass pass{.training = true, .firstSample = 5, .accumulate = false};
  int64_t count = 0;
  std::vector<float> values, gradients, in, out, weights;
};

} // namespace

TEST_P(GradientTest, BackwardIsTheDerivativeOfForward) {
  value();
  std::vector<float> outGradient = weights, inGradient(in.size(), -77);
  subject->backward(in.data(), out.data(), outGradient.data(), inGradient.data(), Batch, pass);
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_NEAR(inGradient[i], difference(in[i]), 2e-3) << "input " << i;
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(gradients[i], difference(values[i]), 2e-3) << "parameter " << i;

  std::vector<float> once = gradients;
  value();
  outGradient = weights;
  Pass again = pass;
  again.accumulate = true;
  subject->backward(in.data(), out.data(), outGradient.data(), nullptr, Batch, again);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(gradients[i], 2 * once[i], 1e-4) << "added, parameter " << i;
}

TEST_P(GradientTest, InPlaceIsTheSame) {
  if (!subject->worksInPlace()) GTEST_SKIP();
  value();
  std::vector<float> outGradient = weights, inGradient(in.size());
  subject->backward(in.data(), out.data(), outGradient.data(), inGradient.data(), Batch, pass);
  std::vector<float> memory = in, gradient = weights;
  subject->forward(memory.data(), memory.data(), Batch, pass);
  EXPECT_EQ(memory, out);
  subject->backward(memory.data(), memory.data(), gradient.data(), gradient.data(), Batch, pass);
  EXPECT_EQ(gradient, inGradient);
}

TEST_P(GradientTest, RowsAreIndependent) {
  value();
  std::vector<float> last(size_t(subject->outputs));
  Pass later = pass;
  later.firstSample += Batch - 1;
  subject->forward(in.data() + (Batch - 1) * subject->inputs, last.data(), 1, later);
  for (size_t i = 0; i < last.size(); ++i)
    EXPECT_NEAR(last[i], out[out.size() - last.size() + i], 1e-6);
}

INSTANTIATE_TEST_SUITE_P(, GradientTest, testing::ValuesIn(rows),
                         [](const auto &info) { return std::string(info.param.kind); });
