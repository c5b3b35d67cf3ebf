// Small trainings for tests: made-up data that can be learned, and plans for them.
#pragma once

#include "runtime/plan/run_plan.h"
#include "runtime/tensor/random.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kft::run {

// A folder that lives as long as the object.
struct Folder {
  std::string path;
  Folder() {
    const char *base = std::getenv("TMPDIR");
    path = std::string(base ? base : "/tmp") + "/kft-run-XXXXXX";
    if (!::mkdtemp(path.data())) std::abort();
  }
  Folder(const Folder &) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string &name, const std::string &content) const {
    std::ofstream(path + "/" + name, std::ios::binary) << content;
    return path + "/" + name;
  }
};

inline std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

// Three clouds of points in eight dimensions, and beside the class a smooth function of the point.
inline std::string clouds(int rows, bool classes = true) {
  std::string text = "a,b,c,d,e,f,g,h,y\n";
  for (uint64_t i = 0; i < uint64_t(rows); ++i) {
    uint64_t kind = randomBits(1, i) % 3;
    double sum = 0;
    for (uint64_t c = 0; c < 8; ++c) {
      double x = double(randomUnit(2, 8 * i + c)) - 0.5 + (c % 3 == kind ? 0.6 : 0);
      sum += x * double(c % 2 ? 1 : -1);
      text += std::to_string(x) + ",";
    }
    text += (classes ? std::to_string(kind) : std::to_string(std::sin(sum))) + "\n";
  }
  return text;
}

inline Arg numberOf(std::string name, double value) {
  return {.name = std::move(name), .kind = Arg::Kind::Number, .number = value, .text = {}, .shape = {}};
}

inline LayerPlan layerOf(const std::string &kind, int64_t in, int64_t out, std::vector<Arg> args = {}) {
  LayerPlan layer;
  layer.kind = kind, layer.args = std::move(args), layer.inputShape = {in}, layer.outputShape = {out};
  return layer;
}

inline Plan cloudPlan(const std::string &path, int ranks = 1, bool classes = true) {
  Plan plan;
  plan.tool = "kftc test", plan.job = "clouds", plan.ranks = plan.ranksPerNode = ranks, plan.seed = 42;
  plan.data.path = path, plan.data.format.kind = "csv", plan.data.label = "y", plan.data.inputShape = {8};
  plan.data.testFraction = 0.2, plan.data.splitSeed = 7, plan.data.shuffleSeed = 42;
  int64_t outputs = classes ? 3 : 1;
  plan.data.targetKind = classes ? "class" : "real", plan.data.classes = classes ? 3 : 0;
  plan.layers = {layerOf("dense", 8, 16, {numberOf("units", 16)}), layerOf("relu", 16, 16),
                 layerOf("dropout", 16, 16, {numberOf("rate", 0.1)}),
                 layerOf("dense", 16, outputs, {numberOf("units", double(outputs))})};
  plan.loss.kind = classes ? "cross_entropy" : "mse";
  plan.optimizer = {"sgd", {numberOf("lr", 0.1), numberOf("momentum", 0.9)}};
  plan.schedule = {"cosine", {numberOf("warmup", 10)}};
  plan.loop.globalBatch = 32, plan.loop.epochs = 8, plan.loop.metrics = {"accuracy"};
  return plan;
}

inline std::vector<nlohmann::json> linesOf(const std::string &runDirectory, const std::string &event) {
  std::vector<nlohmann::json> lines;
  std::ifstream in(runDirectory + "/metrics.jsonl");
  for (std::string line; std::getline(in, line);)
    if (auto json = nlohmann::json::parse(line); json["event"] == event) lines.push_back(json);
  return lines;
}

inline std::vector<double> lossesOf(const std::string &runDirectory) {
  std::vector<double> losses;
  for (auto &line : linesOf(runDirectory, "step"))
    losses.push_back(line["loss"].get<double>());
  return losses;
}

} // namespace kft::run
