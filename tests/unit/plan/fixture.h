// A digits-like job, made by hand, and a source text whose characters its ranges point at.
#pragma once

#include "compiler/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kft {

struct PlanFixture : testing::Test {
  // The file that ranges point into; `find` gives the place of the first occurrence of a text.
  static constexpr const char *Text = "input [64] layers nn.dense(128) nn.relu() nn.dense(10) source ./data.csv batch 64 nodes 2 warmup 50 rate dropout flatten\n";

  Compilation compilation;
  FileId file;
  ir::Job job;

  SourceRange find(llvm::StringRef text) const {
    const size_t at = compilation.sources.text(file).find(text);
    EXPECT_TRUE(at != llvm::StringRef::npos) << text.str();
    return {file, static_cast<uint32_t>(at), static_cast<uint32_t>(at + text.size())};
  }
  ir::Spec spec(const char *name, std::vector<std::pair<std::string, ir::Tree>> args, llvm::StringRef at = {}) const {
    ir::Spec result;
    result.name = name;
    result.args = std::move(args);
    if (!at.empty()) result.at = find(at);
    return result;
  }
  static ir::Tree integer(int64_t value) { return ir::Tree::of(value); }
  static ir::Tree real(double value) { return ir::Tree::of(value); }

  void SetUp() override {
    file = compilation.sources.add("job.kft", Text);
    job.name = job.kubeName = "digits";
    job.at = job.atName = find("nodes");
    job.nodes = 2;
    job.atNodes = find("nodes 2");
    job.runtime.policy = "mpi";
    ir::Dataset dataset;
    dataset.name = "digits";
    dataset.source = "./data.csv";
    dataset.localPath = "/nonexistent/data.csv";
    dataset.format = spec("csv", {{"label", ir::Tree::of("label")}, {"header", ir::Tree::of(true)}, {"delimiter", ir::Tree::of(",")}});
    dataset.testFraction = 0.25;
    dataset.at = dataset.atSource = find("./data.csv");
    job.dataset = dataset;
    ir::Model model;
    model.name = "mlp";
    model.input = {64};
    model.at = find("layers");
    model.atInput = find("[64]");
    model.layers = {spec("dense", {{"units", integer(128)}, {"bias", ir::Tree::of(true)}}, "nn.dense(128)"), spec("relu", {}, "nn.relu()"),
                    spec("dense", {{"units", integer(10)}, {"bias", ir::Tree::of(true)}}, "nn.dense(10)")};
    job.model = model;
    ir::Trainer trainer;
    trainer.name = "sgd";
    trainer.engine = ir::Engine::Native;
    trainer.native.emplace();
    trainer.native->loss = spec("cross_entropy", {});
    trainer.native->optimizer = spec("sgd", {{"lr", real(0.05)}, {"momentum", real(0.9)}, {"nesterov", ir::Tree::of(false)}, {"weight_decay", real(0)}});
    trainer.native->schedule = spec("cosine", {{"warmup", integer(50)}, {"final", real(0)}}, "warmup 50");
    trainer.native->batch = 64;
    trainer.native->epochs = 20;
    trainer.native->atBatch = find("batch 64");
    trainer.native->metrics = {"accuracy"};
    trainer.at = find("batch");
    job.trainer = trainer;
  }

  std::optional<run::Plan> make() { return plan::make(job, compilation); }
  // The only message of that id, with its text and the text it points at.
  void expectOnly(int id, llvm::StringRef message, llvm::StringRef at) {
    ASSERT_EQ(compilation.diags.all().size(), 1u) << all();
    const Diagnostic &diagnostic = compilation.diags.all()[0];
    EXPECT_EQ(diagnostic.id, id);
    EXPECT_EQ(diagnostic.message, message.str());
    EXPECT_EQ(diagnostic.range.valid() ? compilation.sources.text(diagnostic.range).str() : "", at.str());
  }
  std::string all() const {
    std::string text;
    for (const Diagnostic &diagnostic : compilation.diags.all()) text += std::to_string(diagnostic.id) + " " + diagnostic.message + "\n";
    return text;
  }
};

} // namespace kft
