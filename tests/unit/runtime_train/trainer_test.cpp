#include "tests/unit/runtime_train/run_here.h"

#include <gtest/gtest.h>

using namespace kft::run;

namespace {

class TrainerTest : public testing::Test {
protected:
  Folder folder;
  std::string data = folder.file("data.csv", clouds(203));
  Plan plan = cloudPlan(data);
  std::string run(const std::string &name) const { return folder.path + "/" + name; }
  std::vector<double> losses(const Plan &p, const std::string &name) const {
    RunHere(p, run(name)).run();
    return lossesOf(run(name));
  }
};

void near(const std::vector<double> &a, const std::vector<double> &b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::fabs(b[i]))) << "step " << i + 1;
}

} // namespace

TEST_F(TrainerTest, LearnsAndReports) {
  RunHere here(plan, run("a"));
  EXPECT_EQ(here.run(), ExitCode::Done);
  auto steps = linesOf(run("a"), "step"), evals = linesOf(run("a"), "eval");
  ASSERT_EQ(steps.size(), 48u); // 162 rows in batches of 32: 6 steps, 8 epochs
  EXPECT_NEAR(steps[0]["loss"], std::log(3), 0.5);
  EXPECT_LT(steps[47]["loss"], 0.25);
  ASSERT_EQ(evals.size(), 8u);
  EXPECT_GT(evals[7]["accuracy"], 0.8);
  EXPECT_EQ(evals[7]["rows"], 41);
  EXPECT_EQ(steps[47]["step"], 48);
  EXPECT_DOUBLE_EQ(steps[47]["epoch"], 8);
  auto begin = linesOf(run("a"), "begin"), end = linesOf(run("a"), "end");
  EXPECT_EQ(begin.at(0)["steps"], 48);
  EXPECT_EQ(begin.at(0)["stepsPerEpoch"], 6);
  EXPECT_EQ(end.at(0)["reason"], "finished");
  EXPECT_EQ(end.at(0)["samples"], 162 * 8);
}

TEST_F(TrainerTest, SameBitsTwice) {
  RunHere first(plan), second(plan);
  first.run(), second.run();
  EXPECT_EQ(first.parameters(), second.parameters());
  plan.seed = 43;
  RunHere other(plan);
  other.run();
  EXPECT_NE(first.parameters(), other.parameters());
}

TEST_F(TrainerTest, AccumulationGivesTheSameCurve) {
  auto whole = losses(plan, "whole");
  plan.loop.microBatch = 7;
  near(losses(plan, "pieces"), whole, 1e-5);
}

TEST_F(TrainerTest, EveryOptimizerLearns) {
  for (const char *kind : {"sgd", "adam", "adamw"}) {
    plan.optimizer = {kind, {numberOf("lr", std::string(kind) == "sgd" ? 0.1 : 0.01)}};
    EXPECT_LT(losses(plan, kind).back(), 0.6) << kind;
  }
}

TEST_F(TrainerTest, RegressionOnRealTargets) {
  Plan real = cloudPlan(folder.file("real.csv", clouds(203, false)), 1, false);
  real.layers[1].kind = "tanh", real.data.normalize = "standard", real.loop.metrics.clear(), real.loop.epochs = 30;
  RunHere(real, run("real")).run();
  auto evals = linesOf(run("real"), "eval");
  EXPECT_LT(evals.back()["loss"], 0.1);
  EXPECT_TRUE(evals.back().contains("mae"));
  EXPECT_FALSE(evals.back().contains("accuracy"));
}

TEST_F(TrainerTest, CountedInSteps) {
  plan.loop.epochs = 0, plan.loop.steps = 8;
  RunHere here(plan, run("steps"));
  here.run();
  EXPECT_EQ(here.trainer.steps(), 8);
  EXPECT_EQ(lossesOf(run("steps")).size(), 8u);
  EXPECT_EQ(linesOf(run("steps"), "eval").size(), 2u) << "after the first epoch, and at the end";
}

TEST_F(TrainerTest, LastBatchDroppedOrTrained) {
  plan.loop.dropLast = true;
  EXPECT_EQ(losses(plan, "dropped").size(), 5u * 8);
  plan.loop.globalBatch = 1000;
  EXPECT_THROW(RunHere here(plan), Error);
  plan.loop.dropLast = false;
  EXPECT_EQ(losses(plan, "one").size(), 8u) << "a batch larger than the data is one step";
}

TEST_F(TrainerTest, ClippingBoundsTheStep) {
  plan.optimizer = {"sgd", {numberOf("lr", 1)}}, plan.schedule = {"constant", {}}, plan.loop.epochs = 0,
  plan.loop.steps = 1, plan.loop.clip = 0.01;
  RunHere here(plan, run("clip"));
  auto before = here.parameters();
  here.run();
  auto after = here.parameters();
  double norm = 0;
  for (size_t i = 0; i < after.size(); ++i)
    norm += double(after[i] - before[i]) * double(after[i] - before[i]);
  EXPECT_NEAR(std::sqrt(norm), 0.01, 1e-5);
  EXPECT_GT(linesOf(run("clip"), "step")[0]["gradNorm"], 0.01) << "what is reported is not clipped";
}

TEST_F(TrainerTest, EarlyStop) {
  plan.loop.epochs = 50, plan.loop.stopMetric = "loss", plan.loop.stopPatience = 2, plan.loop.stopMinDelta = 1000;
  RunHere here(plan, run("early"));
  EXPECT_EQ(here.run(), ExitCode::Done);
  EXPECT_EQ(here.trainer.steps(), 3 * 6) << "the first evaluation sets the mark, two more give no gain";
  EXPECT_EQ(linesOf(run("early"), "end")[0]["reason"], "early-stop");
  plan.data.testFraction = 0;
  EXPECT_THROW(RunHere none(plan), Error);
}

TEST_F(TrainerTest, DivergenceEndsTheRun) {
  plan.optimizer = {"sgd", {numberOf("lr", 1e30)}}, plan.schedule = {"constant", {}};
  RunHere here(plan, run("diverged"));
  EXPECT_EQ(here.run(), ExitCode::Diverged);
  EXPECT_LT(here.trainer.steps(), 10);
  EXPECT_NE(here.trainer.cause().find("is not finite"), std::string::npos);
  auto end = linesOf(run("diverged"), "end");
  EXPECT_EQ(end.at(0)["code"], 80);
}

TEST_F(TrainerTest, StopIsTakenAtTheEndOfAStep) {
  volatile std::sig_atomic_t stop = 1;
  RunHere here(plan, run("stop"), &stop);
  EXPECT_EQ(here.run(), ExitCode::Stopped);
  EXPECT_EQ(here.trainer.steps(), 1);
  EXPECT_EQ(linesOf(run("stop"), "end")[0]["reason"], "stopped");
}

TEST_F(TrainerTest, PlanAndDataMustFit) {
  auto code = [&](auto change) {
    Plan changed = plan;
    change(changed);
    try {
      RunHere here(changed);
    } catch (const Error &error) {
      return int(error.code);
    }
    return 0;
  };
  EXPECT_EQ(code([](Plan &) {}), 0);
  EXPECT_EQ(code([](Plan &p) { p.ranks = 2; }), 64);
  EXPECT_EQ(code([](Plan &p) { p.data.trainRows = 5; }), 65);
  EXPECT_EQ(code([](Plan &p) { p.loop.stepsPerEpoch = 5; }), 65);
  EXPECT_EQ(code([](Plan &p) { p.loop.globalBatch = 0; }), 65);
  EXPECT_EQ(code([](Plan &p) { p.loop.epochs = 0; }), 65);
  EXPECT_EQ(code([](Plan &p) { p.precision = "bfloat16"; }), 65);
  EXPECT_EQ(code([](Plan &p) { p.parameters = 7; }), 65);
  EXPECT_EQ(code([](Plan &p) { p.data.inputShape = {9}; }), 65);
  EXPECT_EQ(code([](Plan &p) { p.loop.metrics = {"bleu"}; }), 65);
  EXPECT_EQ(code([](Plan &p) { p.data.path = "/nowhere.csv"; }), 66);
}
