// What a job means, with every default filled in: plain structs that own what they hold, compare with ==, and point nowhere.
// Targets and plans read this and nothing earlier. An unset optional means: not given, the cluster's own default holds.
// The SourceRange members (`at…`) say where a value was written; they take no part in ==.
#pragma once

#include "compiler/ir/tree.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kft::ir {

// A place that does not count when jobs are compared.
struct At : SourceRange {
  At() = default;
  At(SourceRange range) : SourceRange(range) {}
  bool operator==(const At &) const { return true; }
};

// env entry: `value` or `valueFrom` (the Kubernetes EnvVarSource).
struct EnvVar {
  std::string name;
  std::string value;
  Tree valueFrom; // null kind: a literal
  At at;
  bool operator==(const EnvVar &) const = default;
};

using StringMap = std::vector<std::pair<std::string, std::string>>; // in order, keys unique

// Amounts in canonical text, in the order they were given.
struct Resources {
  StringMap limits, requests;
  At at;
  bool given() const { return !limits.empty() || !requests.empty(); }
  bool operator==(const Resources &) const = default;
};

// A storage initializer: where a dataset or a pretrained model comes from.
struct Initializer {
  std::string storageUri;
  std::string secretName; // empty: none
  std::vector<EnvVar> env;
  At at, atUri;
  bool operator==(const Initializer &) const = default;
};

// A named thing with parameters: a layer, an optimizer, a schedule, a data format. Numbers, texts and shapes; the meaning is
// the table's of the native engine (runtime/nn/layers.def and its neighbours).
struct Spec {
  std::string name;
  std::vector<std::pair<std::string, Tree>> args; // scalars or lists of them, every default filled in
  std::vector<Spec> children;                     // residual, repeat
  At at;
  const Tree *arg(const std::string &key) const;
  bool operator==(const Spec &) const = default;
};

struct Dataset {
  std::string name;                   // of the declaration; empty for one written in place
  std::string source;                 // as written
  bool isRemote = false;              // has a scheme other than file://
  std::string localPath;              // absolute, when not remote
  std::optional<Initializer> initializer; // when it has a URI that an initializer downloads
  std::optional<Spec> format;         // native: csv, npy
  std::vector<std::string> columns;   // native: feature columns, empty = all but the label
  std::string label;                  // native: name of the label column
  double scale = 1;                   // native: features are multiplied by it
  std::string normalize;              // native: "" or "standard" or "minmax"
  double testFraction = 0;            // native: 0 = no split
  uint64_t splitSeed = 0;
  std::string testSource, testPath;   // native: a file of its own instead of a split
  bool shuffle = true;
  std::optional<uint64_t> seed;
  At at, atSource;
  bool operator==(const Dataset &) const = default;
};

struct Model {
  std::string name;
  std::optional<Initializer> initializer; // pretrained
  std::vector<int64_t> input;             // native: shape of one sample
  std::string dtype = "float32";
  std::vector<Spec> layers;
  std::string init = "default";
  std::optional<uint64_t> seed;
  At at, atInput;
  bool operator==(const Model &) const = default;
};

enum class Engine : uint8_t { Command, Torchtune, Native };

struct EarlyStop { std::string metric; int64_t patience = 0; double minDelta = 0; bool operator==(const EarlyStop &) const = default; };
struct CheckpointPolicy { int64_t every = 0, keep = 0; bool operator==(const CheckpointPolicy &) const = default; };

struct NativeTrainer {
  Spec loss, optimizer, schedule;
  int64_t batch = 0; // global: rows per step over all ranks
  int64_t microBatch = 0; // 0: one piece per rank
  std::optional<int64_t> epochs, steps; // exactly one is set
  std::optional<double> clip;
  std::vector<std::string> metrics;
  std::optional<int64_t> evalEvery; // epochs
  std::optional<EarlyStop> earlyStop;
  std::optional<CheckpointPolicy> checkpoint;
  uint64_t seed = 42;
  std::string precision = "float32";
  bool shardOptimizer = false;
  At atBatch;
  bool operator==(const NativeTrainer &) const = default;
};

struct Trainer {
  std::string name;
  Engine engine = Engine::Command;
  std::optional<NativeTrainer> native;
  At at;
  bool operator==(const Trainer &) const = default;
};

// One replicated job of a runtime.
struct Group {
  std::string name;
  std::string step;   // the ancestor step: trainer, dataset-initializer, model-initializer; empty: no label
  Tree replicatedJob; // its members besides `name` and `template`: replicas, groupName, dependsOn
  Tree jobMetadata, jobSpec; // of the Job template; jobSpec without `template`
  Tree podMetadata, podSpec; // podSpec.containers etc. as Kubernetes has them
  At at;
  bool operator==(const Group &) const = default;
};

struct Runtime {
  std::string name;     // of the declaration
  std::string kubeName;
  bool clusterScope = true;
  std::string nameSpace; // namespace scope only
  bool installed = false; // the cluster has it; nothing is written
  std::string framework;
  std::string policy;     // torch jax mpi xgboost flux plain
  Tree policySpec;        // the members of mlPolicy.<policy>, a map (empty for torch {} …)
  std::optional<int64_t> nodes; // mlPolicy.numNodes
  Tree gang;              // podGroupPolicy as Kubernetes has it: {volcano: {...}}; null: none
  StringMap labels, annotations; // of the runtime object
  bool deprecated = false; // label trainer.kubeflow.org/support: deprecated (lowering section 15)
  std::vector<Group> groups;
  Tree templateMetadata, templateSpec; // the JobSet's, without replicatedJobs
  At at, atName;
  bool operator==(const Runtime &) const = default;
};

// A patch of one group, or (group empty) of the JobSet's own labels and annotations.
struct Patch {
  std::string group;
  Tree replicatedJob, jobMetadata, jobSpec, podMetadata, podSpec; // as in Group; metadata only when group is empty
  At at;
  bool operator==(const Patch &) const = default;
};

struct Retries { int64_t count = 0; int64_t backoffMilliseconds = 0; std::vector<std::string> on; bool operator==(const Retries &) const = default; };

struct Job {
  std::string name, kubeName, nameSpace; // nameSpace empty: not given
  Runtime runtime;
  std::optional<Trainer> trainer;
  std::optional<Dataset> dataset;
  std::optional<Model> model;
  std::optional<int64_t> nodes, procsPerNode;
  Resources resources;
  std::optional<std::string> image;
  std::optional<std::vector<std::string>> command, args; // set but empty: clears the runtime's
  std::vector<At> atCommand, atArgs;                     // parallel to the above
  std::optional<std::string> workdir;
  std::vector<EnvVar> env;
  std::optional<int64_t> deadlineSeconds;
  std::optional<bool> suspend;
  std::optional<std::string> managedBy;
  StringMap labels, annotations; // queue and priority included, under their Kubernetes names
  std::vector<Patch> patches;
  std::string patchManager;
  std::optional<Retries> retries;
  At at, atName, atNodes, atProcs, atRuntime, atImage;
  bool operator==(const Job &) const = default;
};

struct Program {
  std::vector<Job> jobs;         // in order of appearance; not abstract
  std::vector<Runtime> runtimes; // to be written: of the file, and imported ones that a job uses and that are not installed
};

} // namespace kft::ir
