#include "runtime/nn/loss.h"
#include "runtime/nn/model.h"
#include "runtime/plan/error.h"
#include "runtime/tensor/blas.h"
#include "tests/unit/runtime_nn/plans.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace kft::run;

TEST(Layer, WhatThePlanCannotMeanIsRefused) {
  EXPECT_THROW(makeLayer(layer("convolution", "4 -> 4"), {}), Error);
  EXPECT_THROW(makeLayer(layer("dense", "4 -> 4"), {}), Error);
  EXPECT_THROW(makeLayer(layer("dense", "4 -> 3", "units=4"), {}), Error);
  EXPECT_THROW(makeLayer(layer("dense", "2x2 -> 4", "units=4"), {}), Error);
  EXPECT_THROW(makeLayer(layer("dropout", "4 -> 4", "rate=1"), {}), Error);
}

TEST(Layer, DropoutOnlyWhenTraining) {
  auto dropout = makeLayer(layer("dropout", "100 -> 100", "rate=0.5"), {3, 1, "default", Activation::None});
  std::vector<float> in(100, 1), out(100), again(100), other(100);
  dropout->forward(in.data(), out.data(), 1, {});
  EXPECT_EQ(out, in);
  Pass pass{.training = true, .firstSample = 8, .accumulate = false};
  dropout->forward(in.data(), out.data(), 1, pass);
  dropout->forward(in.data(), again.data(), 1, pass);
  EXPECT_EQ(out, again);
  for (float x : out)
    EXPECT_TRUE(x == 0 || x == 2);
  pass.firstSample = 9;
  dropout->forward(in.data(), other.data(), 1, pass);
  EXPECT_NE(out, other);
}

TEST(Layer, StartOfWeights) {
  loadBlas(1);
  auto deviation = [](const std::string &init, std::vector<LayerPlan> layers) {
    Plan plan = modelPlan(std::move(layers));
    plan.init = init;
    Model model(plan, 1);
    double squares = 0;
    int64_t weights = model.named()[0].shape[0] * model.named()[0].shape[1];
    for (int64_t i = 0; i < weights; ++i)
      squares += double(model.parameters()[i]) * double(model.parameters()[i]);
    EXPECT_EQ(model.parameters()[weights], 0) << "bias";
    return std::sqrt(squares / double(weights));
  };
  LayerPlan dense = layer("dense", "200 -> 300", "units=300"), relu = layer("relu", "300 -> 300");
  EXPECT_NEAR(deviation("default", {dense}), std::sqrt(1.0 / 200), 1e-3);
  EXPECT_NEAR(deviation("default", {dense, relu}), std::sqrt(2.0 / 200), 1e-3);
  EXPECT_NEAR(deviation("he", {dense}), std::sqrt(2.0 / 200), 1e-3);
  EXPECT_NEAR(deviation("xavier", {dense}), std::sqrt(2.0 / 500), 1e-3);
  EXPECT_EQ(deviation("zeros", {dense}), 0);
  EXPECT_THROW(deviation("magic", {dense}), Error);
}

TEST(Loss, FitsTheData) {
  DataPlan classes, reals;
  classes.targetKind = "class", classes.classes = 3;
  reals.targetKind = "real", reals.targetWidth = 2;
  Spec entropy{"cross_entropy", {}}, mse{"mse", {}};
  EXPECT_NO_THROW(Loss(entropy, classes, 3));
  EXPECT_NO_THROW(Loss(mse, reals, 2));
  EXPECT_THROW(Loss(entropy, reals, 2), Error);
  EXPECT_THROW(Loss(mse, classes, 3), Error);
  EXPECT_THROW(Loss(entropy, classes, 4), Error);
  EXPECT_THROW(Loss(Spec{"hinge", {}}, classes, 3), Error);
}

TEST(Loss, MeansOfKnownValues) {
  DataPlan classes, reals;
  classes.targetKind = "class", classes.classes = 4;
  reals.targetKind = "real", reals.targetWidth = 2;
  float logits[8] = {}, gradient[8];
  int32_t labels[2] = {0, 3};
  Loss entropy(Spec{"cross_entropy", {}}, classes, 4);
  LossSums sums = entropy.evaluate(logits, labels, nullptr, gradient, 2, 2);
  EXPECT_NEAR(entropy.mean(sums, 2), std::log(4), 1e-6);
  EXPECT_NEAR(gradient[0], (0.25 - 1) / 2, 1e-6);
  EXPECT_NEAR(gradient[1], 0.25 / 2, 1e-6);
  float outputs[4] = {1, 2, 3, 4}, targets[4] = {0, 2, 5, 4};
  Loss mse(Spec{"mse", {}}, reals, 2);
  sums = mse.evaluate(outputs, nullptr, targets, gradient, 2, 2);
  EXPECT_NEAR(mse.mean(sums, 2), (1.0 + 4) / 4, 1e-6);
  EXPECT_NEAR(mse.meanAbsoluteError(sums, 2), 3.0 / 4, 1e-6);
  EXPECT_NEAR(gradient[0], 2.0 / 4, 1e-6);
}
