#include "runtime/plan/run_plan.h"

#include <gtest/gtest.h>
#include <limits>

using namespace kft::run;

namespace {

Arg number(std::string name, double x) {
  return {.name = std::move(name), .kind = Arg::Kind::Number, .number = x, .text = {}, .shape = {}};
}

Plan sample() {
  Plan plan;
  plan.tool = "kftc 0.4.0", plan.job = "digits", plan.file = "digits.kft";
  plan.ranks = 2, plan.seed = std::numeric_limits<uint64_t>::max();
  plan.data.path = "/data/digits.csv", plan.data.targetKind = "class", plan.data.classes = 10,
  plan.data.scale = 1.0 / 16;
  plan.data.format.kind = "csv";
  plan.data.format.args = {
      {.name = "label", .kind = Arg::Kind::Text, .number = 0, .text = "y", .shape = {}},
      {.name = "header", .kind = Arg::Kind::Flag, .number = 0, .text = {}, .shape = {}, .flag = true}};
  LayerPlan dense;
  dense.kind = "dense", dense.args = {number("units", 128), number("rate", 0.1)};
  dense.args.push_back({.name = "to", .kind = Arg::Kind::Shape, .number = 0, .text = {}, .shape = {8, 8, 1}});
  dense.inputShape = {64}, dense.outputShape = {128}, dense.source = "digits.kft:21:13";
  LayerPlan outer;
  outer.kind = "residual", outer.children = {dense};
  plan.layers = {dense, outer};
  plan.optimizer.kind = "sgd", plan.optimizer.args = {number("lr", 0.05)};
  plan.loop.metrics = {"accuracy"};
  return plan;
}

std::string failure(const std::string &text) {
  try {
    fromJson(text);
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

} // namespace

TEST(RunPlan, SavedAndReadIsTheSame) {
  Plan plan = sample();
  std::string text = toJson(plan);
  EXPECT_EQ(fromJson(text), plan);
  EXPECT_EQ(toJson(fromJson(text)), text);
  EXPECT_EQ(fromJson(toJson(Plan())), Plan());
}

TEST(RunPlan, OddNumbersSurvive) {
  for (double x : {0.1, 1e-300, -0.0, 1e300, 123456789012345678.0, 1.0 / 3}) {
    Plan plan = sample();
    plan.data.scale = x;
    EXPECT_EQ(fromJson(toJson(plan)).data.scale, x) << x;
  }
}

TEST(RunPlan, WhatItIsNotIsSaid) {
  std::string good = toJson(sample());
  EXPECT_NE(failure("").find("no JSON object"), std::string::npos);
  EXPECT_NE(failure("[]").find("no JSON object"), std::string::npos);
  EXPECT_NE(failure("{}").find("`version` is missing"), std::string::npos);
  EXPECT_NE(failure(replaced(good, "\"version\": 1", "\"version\": 9")).find("has version 9"), std::string::npos);
  EXPECT_NE(failure(replaced(good, "\"ranks\": 2", "\"ranks\": \"two\"")).find("`ranks` is no whole number"),
            std::string::npos);
  EXPECT_NE(failure(replaced(good, "\"ranks\": 2", "\"rancks\": 2")).find("`ranks` is missing"), std::string::npos);
  EXPECT_NE(failure(replaced(good, "\"ranks\": 2", "\"ranks\": 2, \"more\": 1")).find("`more` is unknown"),
            std::string::npos);
  EXPECT_NE(
      failure(replaced(good, "\"flopsPerSample\": 0", "\"flopsPerSample\": 0.5")).find("`layers[0].flopsPerSample`"),
      std::string::npos);
  EXPECT_NE(failure(good.substr(0, good.size() / 2)).find("no JSON object"), std::string::npos);
}

TEST(RunPlan, HashIsOfWhatDecidesTheNumbers) {
  Plan plan = sample(), other = sample();
  other.tool = "kftc 9", other.file = "/else/where.kft", other.data.path = "/moved/digits.csv",
  other.data.source = "x:1:1";
  other.layers[0].source.clear(), other.layers[1].children[0].source = "y:2:2";
  EXPECT_EQ(hash(plan), hash(other));
  EXPECT_EQ(hash(plan).size(), 64u);
  auto differs = [&](auto change) {
    Plan changed = sample();
    change(changed);
    return hash(changed) != hash(plan);
  };
  EXPECT_TRUE(differs([](Plan &p) { p.seed = 1; }));
  EXPECT_TRUE(differs([](Plan &p) { p.ranks = 4; }));
  EXPECT_TRUE(differs([](Plan &p) { p.data.sha256 = "00"; }));
  EXPECT_TRUE(differs([](Plan &p) { p.data.testPath = "/data/test.csv"; }));
  EXPECT_TRUE(differs([](Plan &p) { p.layers[1].children[0].args[0].number = 64; }));
  EXPECT_TRUE(differs([](Plan &p) { p.optimizer.args[0].number = 0.1; }));
}

TEST(RunPlan, DamagedTextIsRefusedOrRead) {
  const std::string good = toJson(sample());
  uint64_t state = 1;
  auto random = [&](size_t below) {
    return size_t((state = state * 6364136223846793005u + 1442695040888963407u) >> 33) % below;
  };
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    for (size_t n = 1 + random(3); n > 0; --n) {
      size_t at = random(text.size());
      if (random(2))
        text[at] = "\"{}[],:0-9.eEtn"[random(14)];
      else
        text.erase(at, 1 + random(4));
    }
    try {
      Plan plan = fromJson(text);
      EXPECT_EQ(fromJson(toJson(plan)), plan);
    } catch (const std::runtime_error &error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
}
