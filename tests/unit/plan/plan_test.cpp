#include "tests/unit/plan/fixture.h"

#include "compiler/plan/text.h"

using namespace kft;

namespace {
using Plan = PlanFixture;
}

TEST_F(Plan, ShapesParametersAndFlops) {
  const auto plan = make();
  ASSERT_TRUE(plan) << all();
  EXPECT_TRUE(compilation.diags.all().empty()) << all();
  ASSERT_EQ(plan->layers.size(), 3u);
  EXPECT_EQ(plan->layers[0].outputShape, std::vector<int64_t>{128});
  EXPECT_EQ(plan->layers[0].parameters, 64 * 128 + 128);
  EXPECT_EQ(plan->layers[0].flopsPerSample, 2 * 64 * 128 + 128);
  EXPECT_EQ(plan->layers[0].source, "job.kft:1:19");
  EXPECT_EQ(plan->layers[2].inputShape, std::vector<int64_t>{128});
  EXPECT_EQ(plan->parameters, 64 * 128 + 128 + 128 * 10 + 10);
  EXPECT_EQ(plan->flopsPerSample, 3 * (2 * 64 * 128 + 128 + 128 + 2 * 128 * 10 + 10));
  EXPECT_EQ(plan->data.classes, 10);
  EXPECT_EQ(plan->data.targetKind, "class");
  EXPECT_EQ(plan->data.inputShape, std::vector<int64_t>{64});
}

TEST_F(Plan, WorldSizeIsNodesTimesProcesses) {
  job.procsPerNode = 4;
  EXPECT_EQ(make()->ranks, 8);
  job.procsPerNode.reset();
  job.runtime.policySpec.set("numProcPerNode", integer(3));
  EXPECT_EQ(make()->ranks, 6);
  job.nodes.reset();
  job.runtime.nodes = 5;
  EXPECT_EQ(make()->ranks, 15);
  job.runtime.nodes.reset();
  EXPECT_EQ(make()->ranks, 3);
}

TEST_F(Plan, CoresBecomeThreadsOfARank) {
  job.procsPerNode = 2;
  job.resources.limits = {{"cpu", "5"}, {"memory", "2Gi"}};
  EXPECT_EQ(make()->threadsPerRank, 2);
  EXPECT_EQ(make()->ranks, 4);
  job.resources.limits = {{"cpu", "500m"}};
  EXPECT_EQ(make()->threadsPerRank, 1);
}

TEST_F(Plan, MemoryAndTraffic) {
  const auto plan = make();
  const int64_t parameters = plan->parameters;
  const int64_t activations = 32 * (64 + 128 + 128 + 10 + 2 * 128);
  EXPECT_EQ(plan->bytesPerRank, 4 * (3 * parameters + activations)); // weights, gradients, momentum
  EXPECT_EQ(plan->bytesPerStep, 4 * parameters);                     // a ring of two sends everything once
  job.trainer->native->optimizer = spec("adamw", {{"lr", real(1e-3)}});
  EXPECT_EQ(make()->bytesPerRank, 4 * (4 * parameters + activations));
  job.trainer->native->optimizer = spec("sgd", {{"lr", real(1e-3)}, {"momentum", real(0)}});
  EXPECT_EQ(make()->bytesPerRank, 4 * (2 * parameters + activations));
  job.nodes = 1;
  EXPECT_EQ(make()->bytesPerStep, 0);
}

TEST_F(Plan, TheSameJobGivesTheSameHashWhereverItsFilesAre) {
  const auto here = make();
  job.dataset->localPath = "/elsewhere/data.csv";
  const auto there = make();
  EXPECT_EQ(run::hash(*here), run::hash(*there));
  job.trainer->native->seed = 43;
  EXPECT_NE(run::hash(*here), run::hash(*make()));
}

TEST_F(Plan, ModelSeedWinsForWeights) {
  job.model->seed = 7;
  EXPECT_EQ(make()->seed, 7u);
  EXPECT_EQ(make()->data.shuffleSeed, 42u);
  job.dataset->seed = 9;
  EXPECT_EQ(make()->data.shuffleSeed, 9u);
}

TEST_F(Plan, DenseNeedsOneDimension) {
  job.model->input = {8, 8};
  EXPECT_FALSE(make());
  expectOnly(diag::LayerShape::id, "`nn.dense(128)` gets [8, 8] from the input; it takes one dimension", "nn.dense(128)");
  ASSERT_EQ(compilation.diags.all()[0].fixes.size(), 1u);
  EXPECT_EQ(compilation.diags.all()[0].fixes[0].text, "nn.flatten(), ");
}

TEST_F(Plan, FlattenMakesOneDimension) {
  job.model->input = {8, 8};
  job.model->layers.insert(job.model->layers.begin(), spec("flatten", {}, "flatten"));
  const auto plan = make();
  ASSERT_TRUE(plan) << all();
  EXPECT_EQ(plan->layers[0].outputShape, std::vector<int64_t>{64});
  EXPECT_EQ(plan->layers[0].parameters, 0);
}

TEST_F(Plan, BiasCanBeLeftOut) {
  job.model->layers[2].args[1].second = ir::Tree::of(false);
  EXPECT_EQ(make()->layers[2].parameters, 1280);
}

TEST_F(Plan, AnUnknownLayerIsMetWithANearOne) {
  job.model->layers[1].name = "rleu";
  EXPECT_FALSE(make());
  expectOnly(diag::NotInThisVersion::id, "`layer` is `rleu`; the native engine of this version has `dense`, `relu`, `tanh`, `dropout`, `flatten`", "nn.relu()");
  EXPECT_EQ(compilation.diags.all()[0].notes.at(0).message, "did you mean `relu`?");
}

TEST_F(Plan, ArgumentsOutOfBounds) {
  job.model->layers[1] = spec("dropout", {{"rate", real(1)}}, "dropout");
  job.model->layers[1].args[0].second.origin = find("rate");
  EXPECT_FALSE(make());
  expectOnly(diag::BadSpecArgument::id, "`rate` of `dropout` is 1; it must be at least 0 and less than 1", "rate");
}

TEST_F(Plan, NesterovNeedsMomentum) {
  job.trainer->native->optimizer = spec("sgd", {{"lr", real(0.1)}, {"momentum", real(0)}, {"nesterov", ir::Tree::of(true)}});
  EXPECT_FALSE(make());
  expectOnly(diag::BadSpecArgument::id, "`momentum` of `sgd` is 0; it must be greater than 0 with `nesterov`", "");
}

TEST_F(Plan, CrossEntropyNeedsScores) {
  job.model->layers[2].args[0].second = integer(1);
  EXPECT_FALSE(make());
  expectOnly(diag::OutputNotClasses::id, "the model ends with [1]; `cross_entropy` needs one score per class, two or more in one dimension", "nn.dense(10)");
}

TEST_F(Plan, MseComparesOneDimension) {
  job.trainer->native->loss = spec("mse", {});
  job.trainer->native->metrics.clear();
  auto plan = make();
  ASSERT_TRUE(plan) << all();
  EXPECT_EQ(plan->data.targetKind, "real");
  EXPECT_EQ(plan->data.targetWidth, 10);
  job.model->input = {8, 8};
  job.model->layers = {spec("relu", {}, "nn.relu()")};
  EXPECT_FALSE(make());
  expectOnly(diag::OutputNotTargets::id, "the model ends with [8, 8]; `mse` compares one dimension", "nn.relu()");
}

TEST_F(Plan, AnActivationAtTheEndIsWarnedOf) {
  job.model->layers.push_back(spec("relu", {}, "nn.relu()"));
  EXPECT_TRUE(make());
  expectOnly(diag::ActivationBeforeLoss::id, "the last layer is `nn.relu()`; `cross_entropy` wants scores of any size and sign", "nn.relu()");
}

TEST_F(Plan, BatchOverRanks) {
  job.nodes = 128;
  EXPECT_FALSE(make());
  expectOnly(diag::BatchTooSmall::id, "`batch` is 64 for 128 ranks; it is the rows of all ranks together, and each needs at least one", "batch 64");
}

TEST_F(Plan, AnUnevenBatchIsAWarning) {
  job.nodes = 3;
  const auto plan = make();
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->loop.microBatch, 22);
  expectOnly(diag::BatchUneven::id, "`batch` is 64 for 3 ranks; some take 22 rows a step and the others, 21, wait for them", "batch 64");
  EXPECT_EQ(compilation.diags.all()[0].notes.at(0).message, "63 and 66 divide evenly");
}

TEST_F(Plan, MicroBatchDividesTheRowsOfARank) {
  job.trainer->native->microBatch = 8;
  EXPECT_EQ(make()->loop.microBatch, 8);
  job.trainer->native->microBatch = 12;
  EXPECT_FALSE(make());
  expectOnly(diag::MicroBatchSplit::id, "`micro_batch` is 12, but a rank has 32 rows a step; it must divide them", "batch 64");
  EXPECT_EQ(compilation.diags.all()[0].notes.at(0).message, "8 and 16 do");
}

TEST_F(Plan, ModelsThatNoMachineHolds) {
  job.model->layers[0].args[0].second = integer(int64_t{1} << 50);
  EXPECT_FALSE(make());
  ASSERT_EQ(compilation.diags.all().size(), 1u) << all();
  EXPECT_EQ(compilation.diags.all()[0].id, diag::ModelTooLarge::id);
  compilation.diags.clear();
  job.model->layers[0].args[0].second = integer(10);
  job.model->input = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_FALSE(make());
  EXPECT_EQ(compilation.diags.all()[0].id, diag::ModelTooLarge::id);
}

TEST_F(Plan, MoreMemoryThanTheJobMayUse) {
  job.resources.limits = {{"memory", "100k"}};
  EXPECT_TRUE(make());
  ASSERT_EQ(compilation.diags.all().size(), 1u) << all();
  EXPECT_EQ(compilation.diags.all()[0].id, diag::MemoryOverLimit::id);
}

TEST_F(Plan, DevicesAreNotUsed) {
  job.resources.limits = {{"nvidia.com/gpu", "1"}};
  job.resources.requests = {{"nvidia.com/gpu", "1"}};
  EXPECT_TRUE(make());
  ASSERT_EQ(compilation.diags.all().size(), 1u) << all();
  EXPECT_EQ(compilation.diags.all()[0].message, "the job asks for `nvidia.com/gpu`; the native engine computes on the CPU");
}

TEST_F(Plan, TooManyRanks) {
  job.nodes = int64_t{1} << 40;
  EXPECT_FALSE(make());
  ASSERT_EQ(compilation.diags.all().size(), 1u) << all();
  EXPECT_EQ(compilation.diags.all()[0].id, diag::WorldSize::id);
}

TEST_F(Plan, AWarmupThatNeverEnds) {
  job.trainer->native->epochs.reset();
  job.trainer->native->steps = 50;
  EXPECT_TRUE(make());
  expectOnly(diag::WarmupTooLong::id, "the warm-up of 50 steps takes all 50 steps of the training", "warmup 50");
}

TEST_F(Plan, OneMistakeInTheModelIsOneMessage) {
  job.model->input = {8, 8};
  job.model->layers[2].args[0].second = integer(1);
  EXPECT_FALSE(make());
  EXPECT_EQ(compilation.diags.all().size(), 1u) << all();
}

TEST_F(Plan, FormatFollowsFromTheEndingOrIsAsked) {
  job.dataset->format.reset();
  EXPECT_EQ(make()->data.format.kind, "csv");
  job.dataset->localPath = "/nonexistent/data.parquet";
  EXPECT_FALSE(make());
  ASSERT_EQ(compilation.diags.all().size(), 1u) << all();
  EXPECT_EQ(compilation.diags.all()[0].message, "`format` is missing in dataset `digits`; the native engine needs it");
}

TEST_F(Plan, WhatThisVersionDoesNotHave) {
  job.trainer->native->precision = "bfloat16";
  EXPECT_FALSE(make());
  expectOnly(diag::NotInThisVersion::id, "`precision` is `bfloat16`; the native engine of this version has `float32`", "batch");
}
