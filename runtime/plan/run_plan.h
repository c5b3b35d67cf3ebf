// The contract between compiler and engine: everything a native run needs, as plain data. Saved as plan.json; its hash
// names the run. All shapes are decided here; the engine computes none of them again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kft::run {

// A parameter of a layer, optimizer, …: a number, a text, or a shape.
struct Arg {
  std::string name;
  enum class Kind : uint8_t { Number, Text, Shape, Flag } kind = Kind::Number;
  double number = 0;
  std::string text;
  std::vector<int64_t> shape;
  bool flag = false;
  bool operator==(const Arg &) const = default;
};

struct Spec {
  std::string kind; // "sgd", "cosine", "cross_entropy", "csv"
  std::vector<Arg> args;
  const Arg *find(const std::string &name) const;
  double number(const std::string &name, double otherwise) const;
  std::string text(const std::string &name, const std::string &otherwise) const;
  bool flag(const std::string &name, bool otherwise) const;
  bool operator==(const Spec &) const = default;
};

struct LayerPlan {
  std::string kind; // a row of nn/layers.def
  std::vector<Arg> args;
  std::vector<int64_t> inputShape, outputShape; // of one sample, without the batch
  int64_t parameters = 0;                       // floats
  int64_t flopsPerSample = 0;                   // forward; multiply and add count as two
  std::string source;                           // "digits.kft:21:13", for messages
  std::vector<LayerPlan> children;
  bool operator==(const LayerPlan &) const = default;
};

struct DataPlan {
  std::string path;     // absolute; the training rows
  std::string testPath; // empty: split from `path`
  Spec format;          // csv (label, header, delimiter), npy
  std::vector<std::string> columns; // feature columns; empty: all but the label
  std::string label;
  std::vector<int64_t> inputShape;
  std::string targetKind; // "class" (integers) or "real"
  int64_t classes = 0;    // for "class": the width of the model's output
  int64_t targetWidth = 1; // for "real"
  double scale = 1;
  std::string normalize; // "", "standard", "minmax"
  double testFraction = 0;
  uint64_t splitSeed = 0;
  bool shuffle = true;
  uint64_t shuffleSeed = 0;
  // Found when the plan was made (0 and empty when the files are not here: `kftc compile --emit plan` where only the cluster has them).
  int64_t rows = 0, trainRows = 0, testRows = 0;
  std::string sha256;
  std::string source; // "digits.kft:14:13", for messages
  bool operator==(const DataPlan &) const = default;
};

struct LoopPlan {
  int64_t globalBatch = 0;
  int64_t microBatch = 0;      // rows per rank and piece; divides the rows per rank
  int64_t epochs = 0;          // 0: counted in steps
  int64_t steps = 0;           // total optimizer steps; 0: not known before the data is read
  int64_t stepsPerEpoch = 0;   // 0: not known
  bool dropLast = false;       // the ragged last batch: dropped, or trained with its true size
  int64_t evalEvery = 1;       // epochs; 0: only at the end
  double clip = 0;             // 0: none; global norm
  std::vector<std::string> metrics;
  std::string stopMetric;      // early stop; empty: none
  int64_t stopPatience = 0;
  double stopMinDelta = 0;
  int64_t checkpointEvery = 0, checkpointKeep = 0; // epochs; kept for the plan, used by checkpointing
  bool operator==(const LoopPlan &) const = default;
};

struct Plan {
  static constexpr int Version = 1;
  std::string tool;  // "kftc 0.4.0"
  std::string job;   // name of the job
  std::string file;  // the .kft it came from, as given
  int ranks = 1;     // world size
  int nodes = 1, ranksPerNode = 1;
  int threadsPerRank = 1;
  uint64_t seed = 0; // of initial weights and dropout
  std::string precision = "float32";
  DataPlan data;
  std::vector<LayerPlan> layers;
  std::string init = "default";
  Spec loss, optimizer, schedule;
  LoopPlan loop;
  int64_t parameters = 0;          // floats, all layers
  int64_t flopsPerSample = 0;      // forward and backward (three times forward)
  int64_t bytesPerRank = 0;        // weights, gradients, optimizer state, activations
  int64_t bytesPerStep = 0;        // sent by one rank per step (ring allreduce of the gradients)
  bool operator==(const Plan &) const = default;
};

// Deterministic text: same plan, same bytes. Keys as the members are called.
std::string toJson(const Plan &plan);
// Throws std::runtime_error with a readable text when it is no plan of this version.
Plan fromJson(const std::string &text);
// SHA-256 (hex) of what decides the numbers: everything but `tool`, `file`, `source` and absolute paths.
std::string hash(const Plan &plan);

} // namespace kft::run
