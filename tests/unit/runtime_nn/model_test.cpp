// Whole stacks: memory that layers share must not change a gradient.
#include "runtime/nn/loss.h"
#include "runtime/nn/model.h"
#include "runtime/plan/error.h"
#include "runtime/tensor/blas.h"
#include "runtime/tensor/random.h"
#include "tests/unit/runtime_nn/plans.h"

#include <gtest/gtest.h>

using namespace kft::run;

namespace {

class StackTest : public testing::TestWithParam<std::vector<std::string>> {};

std::string label(const testing::TestParamInfo<std::vector<std::string>> &info) {
  std::string name;
  for (const std::string &kind : info.param)
    name += (name.empty() ? "" : "_") + kind;
  return name;
}

// dense layers of width 6, the last one of width 3; everything else keeps the width.
Plan stack(const std::vector<std::string> &kinds) {
  std::vector<LayerPlan> layers;
  for (size_t i = 0; i < kinds.size(); ++i) {
    bool last = i + 1 == kinds.size();
    if (kinds[i] == "dense")
      layers.push_back(layer("dense", last ? "6 -> 3" : "6 -> 6", last ? "units=3" : "units=6"));
    else
      layers.push_back(layer(kinds[i], "6 -> 6", kinds[i] == "dropout" ? "rate=0.3" : ""));
  }
  return modelPlan(layers);
}

} // namespace

TEST_P(StackTest, GradientsOfAllParameters) {
  loadBlas(1);
  Plan plan = stack(GetParam());
  plan.data.targetKind = "class", plan.data.classes = 3;
  const int64_t rows = 4;
  Model model(plan, rows);
  Loss loss(Spec{"cross_entropy", {}}, plan.data, 3);
  for (int64_t i = 0; i < model.parameterCount(); ++i)
    model.parameters()[i] += 0.1f * randomUnit(5, uint64_t(i));
  int32_t labels[rows] = {0, 2, 1, 1};
  Pass pass{.training = true, .firstSample = 100, .accumulate = false};
  auto value = [&] {
    for (int64_t i = 0; i < rows * 6; ++i)
      model.input()[i] = randomUnit(6, uint64_t(i)) * 2 - 1; // layers may write over it
    const float *out = model.forward(rows, pass);
    return loss.evaluate(out, labels, nullptr, model.outputGradient(), rows, rows).loss / rows;
  };
  value();
  model.backward(rows, pass);
  std::vector<float> gradients(model.gradients(), model.gradients() + model.parameterCount());
  int wrong = 0;
  for (int64_t i = 0; i < model.parameterCount(); ++i) {
    float &x = model.parameters()[i], before = x;
    const float step = 2e-3f;
    x = before + step;
    double up = value(), high = double(x);
    x = before - step;
    double down = value(), low = double(x);
    x = before;
    // A step over a kink of relu is no fault; more than a few would be.
    wrong += std::abs((up - down) / (high - low) - double(gradients[size_t(i)])) > 2e-3;
  }
  EXPECT_LE(wrong, 2);
}

INSTANTIATE_TEST_SUITE_P(
    , StackTest,
    testing::Values(std::vector<std::string>{"dense"}, std::vector<std::string>{"dense", "relu", "dense"},
                    std::vector<std::string>{"dense", "relu", "dropout", "dense"},
                    std::vector<std::string>{"dense", "tanh", "dropout", "dense"},
                    std::vector<std::string>{"dense", "dropout", "relu", "dropout", "dense"},
                    std::vector<std::string>{"dense", "dropout", "tanh", "tanh", "relu", "dense"},
                    std::vector<std::string>{"dropout", "tanh", "dense", "flatten", "relu", "flatten", "dense"},
                    std::vector<std::string>{"flatten", "dense", "tanh", "flatten", "dense", "relu", "tanh", "dropout",
                                             "dense"}),
    label);

TEST(Model, NamesShapesAndOneBuffer) {
  loadBlas(1);
  Model model(stack({"dense", "relu", "dropout", "dense"}), 2, 3);
  ASSERT_EQ(model.named().size(), 4u);
  EXPECT_EQ(model.named()[0].name, "layers.0.weight");
  EXPECT_EQ(model.named()[2].name, "layers.3.weight");
  EXPECT_EQ(model.named()[2].shape, (std::vector<int64_t>{3, 6}));
  EXPECT_EQ(model.named()[3].offset, 6 * 6 + 6 + 3 * 6);
  EXPECT_EQ(model.parameterCount(), 6 * 6 + 6 + 3 * 6 + 3);
}

TEST(Model, PiecesAddUpToTheBatch) {
  loadBlas(1);
  Plan plan = stack({"dense", "tanh", "dropout", "dense"});
  plan.data.targetKind = "class", plan.data.classes = 3;
  Loss loss(Spec{"cross_entropy", {}}, plan.data, 3);
  Model whole(plan, 4), pieces(plan, 2);
  int32_t labels[4] = {0, 2, 1, 1};
  auto run = [&](Model &model, int64_t from, int64_t rows, bool accumulate) {
    Pass pass{.training = true, .firstSample = from, .accumulate = accumulate};
    for (int64_t i = 0; i < rows * 6; ++i)
      model.input()[i] = randomUnit(6, uint64_t(from * 6 + i));
    loss.evaluate(model.forward(rows, pass), labels + from, nullptr, model.outputGradient(), rows, 4);
    model.backward(rows, pass);
  };
  run(whole, 0, 4, false);
  run(pieces, 0, 2, false), run(pieces, 2, 2, true);
  for (int64_t i = 0; i < whole.parameterCount(); ++i)
    EXPECT_NEAR(whole.gradients()[i], pieces.gradients()[i], 1e-6) << i;
}

TEST(Model, ShapesMustFit) {
  EXPECT_THROW(Model(modelPlan({layer("dense", "4 -> 3", "units=3"), layer("dense", "4 -> 3", "units=3")}), 1), Error);
  EXPECT_THROW(Model(modelPlan({layer("relu", "4 -> 4")}), 1), Error) << "nothing to train";
  EXPECT_THROW(Model(Plan(), 1), Error);
}
