// Against formulas worked out by hand, and against figures of an independent program in double precision.
#include "runtime/optim/optimizer.h"
#include "runtime/plan/error.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace kft::run;

namespace {

Spec spec(const std::string &kind, std::vector<std::pair<std::string, double>> numbers, bool nesterov = false) {
  Spec s;
  s.kind = kind;
  for (auto &[name, value] : numbers)
    s.args.push_back({.name = name, .kind = Arg::Kind::Number, .number = value, .text = {}, .shape = {}});
  s.args.push_back(
      {.name = "nesterov", .kind = Arg::Kind::Flag, .number = 0, .text = {}, .shape = {}, .flag = nesterov});
  return s;
}

// Minimizes f(x) = x²/2 + x, whose gradient is x + 1, from x = 2.
std::vector<double> path(const Spec &s, int steps, double scale = 1) {
  Optimizer optimizer(s, 1);
  float x = 2;
  std::vector<double> xs;
  for (int i = 0; i < steps; ++i) {
    float gradient = x + 1;
    optimizer.step(&x, &gradient, optimizer.baseRate(), scale);
    xs.push_back(double(x));
  }
  return xs;
}

void near(const std::vector<double> &a, const std::vector<double> &b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 2e-6) << i;
}

} // namespace

TEST(Optimizer, PlainSgdIsGeometric) {
  auto xs = path(spec("sgd", {{"lr", 0.1}}), 20);
  for (size_t i = 0; i < xs.size(); ++i)
    EXPECT_NEAR(xs[i], -1 + 3 * std::pow(0.9, double(i + 1)), 1e-5);
}

TEST(Optimizer, Momentum) {
  // v: 3, 5.4, …; by hand: x1 = 2 - .1·3 = 1.7; v2 = .9·3 + 2.7 = 5.4, x2 = 1.16; v3 = 4.86 + 2.16 = 7.02, x3 = .458
  near(path(spec("sgd", {{"lr", 0.1}, {"momentum", 0.9}}), 3), {1.7, 1.16, 0.458});
  // Nesterov: g + .9·v. x1 = 2 - .1·(3 + 2.7) = 1.43; v2 = 2.7 + 2.43 = 5.13, x2 = 1.43 - .1·(2.43 + 4.617) = .7253
  near(path(spec("sgd", {{"lr", 0.1}, {"momentum", 0.9}}, true), 2), {1.43, 0.7253});
}

TEST(Optimizer, WeightDecayAndScale) {
  near(path(spec("sgd", {{"lr", 0.1}, {"weight_decay", 0.5}}), 2), {2 - 0.1 * (3 + 1), 1.6 - 0.1 * (2.6 + 0.8)});
  near(path(spec("sgd", {{"lr", 0.1}}), 2, 0.5), {2 - 0.15, 1.85 - 0.1425});
}

TEST(Optimizer, AdamReference) {
  near(path(spec("adam", {{"lr", 0.1}}), 5), {1.900000000, 1.800102708, 1.700381524, 1.600913532, 1.501779457});
  near(path(spec("adam", {{"lr", 0.1}, {"beta1", 0.8}, {"beta2", 0.9}, {"eps", 0.01}, {"weight_decay", 0.2}}), 5),
       {1.900293255, 1.800712462, 1.701343086, 1.602273243, 1.503592953});
  near(path(spec("adamw", {{"lr", 0.1}}), 5),
       {1.898000000, 1.796207095, 1.694696138, 1.593545633, 1.492837685}); // decays by 0.01 unless told otherwise
  near(path(spec("adamw", {{"lr", 0.1}, {"weight_decay", 0.2}}), 5),
       {1.860000000, 1.722953039, 1.588907957, 1.457916735, 1.330034142});
}

TEST(Optimizer, TellsTheNormOfTheGradient) {
  Optimizer optimizer(spec("adam", {{"lr", 0.1}}), 2);
  float x[2] = {}, gradient[2] = {3, 4};
  EXPECT_DOUBLE_EQ(optimizer.step(x, gradient, 0.1, 0.5), 25);
  gradient[1] = NAN;
  EXPECT_TRUE(std::isnan(optimizer.step(x, gradient, 0.1, 1)));
}

TEST(Optimizer, NumbersOutOfBounds) {
  EXPECT_THROW(Optimizer(spec("lamb", {{"lr", 1}}), 1), Error);
  EXPECT_THROW(Optimizer(spec("sgd", {}), 1), Error) << "no rate";
  EXPECT_THROW(Optimizer(spec("sgd", {{"lr", -1}}), 1), Error);
  EXPECT_THROW(Optimizer(spec("sgd", {{"lr", 1}, {"momentum", 1}}), 1), Error);
  EXPECT_THROW(Optimizer(spec("sgd", {{"lr", 1}}, true), 1), Error) << "nesterov without momentum";
  EXPECT_THROW(Optimizer(spec("adam", {{"lr", 1}, {"beta2", 1}}), 1), Error);
  EXPECT_THROW(Optimizer(spec("adam", {{"lr", 1}, {"eps", 0}}), 1), Error);
}
