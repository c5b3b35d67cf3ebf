#include "compiler/plan/plan.h"
#include "compiler/basic/quantity.h"
#include "compiler/plan/text.h"
#include "runtime/plan/text.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace kft::plan {

namespace {

using ir::Tree;
using llvm::StringRef;

// More numbers than this fit no machine, and sums of them still fit 64 bits.
constexpr int64_t MostNumbers = int64_t{1} << 44;
constexpr int64_t MostRanks = 1 << 20;

std::string numberText(double value) { return fmt::format("{:g}", value); }

std::string valueText(const Tree &tree) {
  switch (tree.kind) {
  case Tree::Kind::Bool: return tree.boolean ? "true" : "false";
  case Tree::Kind::Int: return fmt::format("{}", tree.integer);
  case Tree::Kind::Float: return numberText(tree.number);
  case Tree::Kind::String: return "`" + tree.text + "`";
  case Tree::Kind::List: return "a list";
  case Tree::Kind::Map: return "a block";
  case Tree::Kind::Null: break;
  }
  return "null";
}

class Planner {
public:
  Planner(const ir::Job &job, Compilation &compilation) : job_(job), compilation_(compilation) {}

  std::optional<run::Plan> make() {
    const size_t before = compilation_.diags.errorCount();
    world();
    if (!parts()) return std::nullopt;
    model();
    data();
    trainer();
    if (compilation_.diags.errorCount() != before) return std::nullopt;
    totals();
    checkWarmup(plan_, job_, compilation_);
    return compilation_.diags.errorCount() == before ? std::optional(std::move(plan_)) : std::nullopt;
  }

private:
  // ---- reading specs ----

  SourceRange rangeOf(const ir::Spec &spec, const char *argument) const {
    const Tree *tree = spec.arg(argument);
    return tree && tree->origin.valid() ? tree->origin : SourceRange(spec.at);
  }
  // The argument as a number; reports one that is outside of what `holds` allows. `rule` is what it must be.
  template <typename Holds>
  double number(const ir::Spec &spec, const char *argument, double otherwise, Holds holds, const char *rule) {
    const Tree *tree = spec.arg(argument);
    if (!tree || tree->kind == Tree::Kind::Null) return otherwise;
    const bool isNumber = tree->kind == Tree::Kind::Int || tree->kind == Tree::Kind::Float;
    const double value = tree->kind == Tree::Kind::Int ? static_cast<double>(tree->integer) : tree->number;
    if (!isNumber || !std::isfinite(value) || !holds(value)) {
      compilation_.diags.report(rangeOf(spec, argument), diag::BadSpecArgument{.argument = argument, .owner = spec.name, .value = valueText(*tree), .rule = rule});
      return otherwise;
    }
    return value;
  }
  int64_t count(const ir::Spec &spec, const char *argument, int64_t otherwise, int64_t least) {
    const std::string rule = fmt::format("a whole number, {} or more", least);
    return static_cast<int64_t>(number(spec, argument, static_cast<double>(otherwise), [&](double v) { return v >= static_cast<double>(least) && v == std::floor(v) && v < 9e15; }, rule.c_str()));
  }
  // False after a report.
  bool known(const ir::Spec &spec, const char *what, std::initializer_list<const char *> names) {
    if (std::any_of(names.begin(), names.end(), [&](const char *name) { return spec.name == name; })) return true;
    std::string list, best;
    unsigned distance = 3;
    for (const char *name : names) {
      list += (list.empty() ? "`" : ", `") + std::string(name) + "`";
      if (const unsigned d = StringRef(spec.name).edit_distance(name, true, distance); d < distance) {
        distance = d;
        best = name;
      }
    }
    auto report = compilation_.diags.report(spec.at, diag::NotInThisVersion{.field = what, .value = "`" + spec.name + "`", .has = list});
    if (!best.empty()) report.note(diag::DidYouMean{.name = best});
    return false;
  }
  static run::Spec copy(const ir::Spec &spec) {
    run::Spec result;
    result.kind = spec.name;
    result.args = arguments(spec);
    return result;
  }
  static std::vector<run::Arg> arguments(const ir::Spec &spec) {
    std::vector<run::Arg> result;
    for (const auto &[name, tree] : spec.args) {
      run::Arg arg;
      arg.name = name;
      switch (tree.kind) {
      case Tree::Kind::Null: case Tree::Kind::Map: continue;
      case Tree::Kind::Bool: arg.kind = run::Arg::Kind::Flag; arg.flag = tree.boolean; break;
      case Tree::Kind::Int: arg.number = static_cast<double>(tree.integer); break;
      case Tree::Kind::Float: arg.number = tree.number; break;
      case Tree::Kind::String: arg.kind = run::Arg::Kind::Text; arg.text = tree.text; break;
      case Tree::Kind::List:
        arg.kind = run::Arg::Kind::Shape;
        for (const Tree &item : tree.items) arg.shape.push_back(item.integer);
        break;
      }
      result.push_back(std::move(arg));
    }
    return result;
  }

  // ---- the parts ----

  void world() {
    const int64_t nodes = job_.nodes.value_or(job_.runtime.nodes.value_or(1));
    // The launcher of the cluster counts slots in the same way: the job's number, else the runtime's, else one. Cores do not
    // add ranks, they add threads to them.
    int64_t procs = 1;
    if (job_.procsPerNode) procs = *job_.procsPerNode;
    else if (const Tree *policy = job_.runtime.policySpec.find("numProcPerNode"); policy && policy->kind == Tree::Kind::Int) procs = policy->integer;
    if (nodes < 1 || procs < 1 || nodes > MostRanks / procs) {
      compilation_.diags.report(job_.nodes ? job_.atNodes : job_.at, diag::WorldSize{.nodes = nodes, .procs = procs, .limit = MostRanks});
      return;
    }
    plan_.nodes = static_cast<int>(nodes);
    plan_.ranksPerNode = static_cast<int>(procs);
    plan_.ranks = static_cast<int>(nodes * procs);
    if (const auto cpu = resource("cpu")) plan_.threadsPerRank = static_cast<int>(std::clamp<int64_t>(static_cast<int64_t>(cpu->nano / 1'000'000'000) / procs, 1, 1024));
    for (const auto *list : {&job_.resources.limits, &job_.resources.requests})
      for (const auto &[name, amount] : *list)
        if (StringRef(name).contains('/') && !StringRef(name).startswith("hugepages") && warnedDevices_.insert(name).second)
          compilation_.diags.report(job_.resources.at, diag::DeviceUnused{.device = name});
  }

  std::optional<Amount> resource(const char *name) const {
    for (const auto *list : {&job_.resources.requests, &job_.resources.limits})
      for (const auto &[key, text] : *list)
        if (key == name) return parseAmount(text);
    return std::nullopt;
  }

  // The check of the job has asked for these already; a job from elsewhere is told as well.
  bool parts() {
    const SourceRange at = job_.atName.valid() ? job_.atName : job_.at;
    const std::string owner = fmt::format("job `{}`", job_.name);
    auto missing = [&](const char *field, const char *example) { compilation_.diags.report(at, diag::NativeFieldMissing{.field = field, .owner = owner}).note(diag::NeededFields{.example = example}); };
    if (!job_.trainer || !job_.trainer->native) return missing("trainer", "`trainer = trainer.sgd`"), false;
    if (!job_.dataset) missing("dataset", "`dataset = dataset.digits`");
    if (!job_.model) missing("model", "`model = model.mlp`");
    return job_.dataset && job_.model;
  }

  void model() {
    const ir::Model &model = *job_.model;
    const std::string owner = model.name.empty() ? "the model" : fmt::format("model `{}`", model.name);
    if (model.input.empty()) {
      compilation_.diags.report(model.at, diag::NativeFieldMissing{.field = "input", .owner = owner}).note(diag::NeededFields{.example = "`input = [64]`"});
      return;
    }
    int64_t numbers = 1;
    for (int64_t dimension : model.input) {
      if (dimension < 1) {
        compilation_.diags.report(model.atInput.valid() ? model.atInput : model.at, diag::BadSpecArgument{.argument = "input", .owner = "model", .value = fmt::format("{}", dimension), .rule = "1 or more in each dimension"});
        return;
      }
      numbers = numbers > MostNumbers / dimension ? MostNumbers + 1 : numbers * dimension;
    }
    if (numbers > MostNumbers) {
      compilation_.diags.report(model.atInput.valid() ? model.atInput : model.at, diag::ModelTooLarge{.layer = "input", .limit = fmt::format("{}", MostNumbers)});
      return;
    }
    if (model.layers.empty()) {
      compilation_.diags.report(model.at, diag::NativeFieldMissing{.field = "layers", .owner = owner}).note(diag::NeededFields{.example = "`layers = [nn.dense(128), nn.relu(), nn.dense(10)]`"});
      return;
    }
    if (model.dtype != "float32") compilation_.diags.report(model.at, diag::NotInThisVersion{.field = "dtype", .value = "`" + model.dtype + "`", .has = "`float32`"});
    plan_.init = model.init;
    std::vector<int64_t> shape = model.input;
    std::string before = "the input";
    for (const ir::Spec &spec : model.layers) {
      auto layer = this->layer(spec, shape, before);
      if (!layer) return; // what follows would be judged by a shape that is wrong
      plan_.parameters += layer->parameters;
      forwardFlops_ += layer->flopsPerSample;
      if (plan_.parameters > MostNumbers || forwardFlops_ > 4 * MostNumbers) {
        compilation_.diags.report(spec.at, diag::ModelTooLarge{.layer = written(spec), .limit = fmt::format("{}", MostNumbers)});
        return;
      }
      shape = layer->outputShape;
      before = "`" + written(spec) + "`";
      plan_.layers.push_back(std::move(*layer));
    }
    shaped_ = true;
  }

  std::string written(const ir::Spec &spec) const {
    const StringRef text = spec.at.valid() ? compilation_.sources.text(spec.at) : StringRef();
    return text.empty() || text.size() > 40 || text.contains('\n') ? spec.name : text.str();
  }

  std::optional<run::LayerPlan> layer(const ir::Spec &spec, const std::vector<int64_t> &input, const std::string &before) {
    if (!known(spec, "layer", {"dense", "relu", "tanh", "dropout", "flatten"})) return std::nullopt;
    const size_t errors = compilation_.diags.errorCount();
    run::LayerPlan layer;
    layer.kind = spec.name;
    layer.args = arguments(spec);
    layer.inputShape = layer.outputShape = input;
    layer.source = place(spec.at);
    const int64_t size = product(input);
    if (spec.name == "dense") {
      const int64_t units = count(spec, "units", 0, 1);
      if (compilation_.diags.errorCount() != errors) return std::nullopt;
      if (units == 0) {
        compilation_.diags.report(spec.at, diag::NativeFieldMissing{.field = "units", .owner = "`dense`"});
        return std::nullopt;
      }
      if (input.size() != 1) {
        const std::string call = written(spec);
        const size_t open = call.find("dense(");
        const std::string flatten = (open == std::string::npos ? "nn." : call.substr(0, open)) + "flatten()";
        auto report = compilation_.diags.report(spec.at, diag::LayerShape{.layer = call, .shape = shapeText(input), .before = before});
        const SourceRange at = spec.at;
        report.fixit({at.file, at.begin, at.begin}, flatten + ", ", diag::FlattenFirst{.layer = flatten});
        return std::nullopt;
      }
      const Tree *bias = spec.arg("bias");
      const int64_t biases = bias && bias->kind == Tree::Kind::Bool && !bias->boolean ? 0 : units;
      if (size > MostNumbers / units) {
        compilation_.diags.report(spec.at, diag::ModelTooLarge{.layer = written(spec), .limit = fmt::format("{}", MostNumbers)});
        return std::nullopt;
      }
      layer.outputShape = {units};
      layer.parameters = size * units + biases;
      layer.flopsPerSample = 2 * size * units + biases;
    } else if (spec.name == "dropout") {
      number(spec, "rate", 0, [](double v) { return v >= 0 && v < 1; }, "at least 0 and less than 1");
      layer.flopsPerSample = size;
    } else if (spec.name == "flatten") {
      layer.outputShape = {size};
    } else {
      layer.flopsPerSample = size;
    }
    if (compilation_.diags.errorCount() != errors) return std::nullopt;
    return layer;
  }

  void data() {
    const ir::Dataset &dataset = *job_.dataset;
    run::DataPlan &data = plan_.data;
    data.path = dataset.isRemote ? dataset.source : dataset.localPath;
    data.testPath = dataset.testPath;
    data.source = place(dataset.atSource.valid() ? dataset.atSource : dataset.at);
    if (dataset.format) {
      if (!known(*dataset.format, "data format", {"csv", "npy"})) return;
      data.format = copy(*dataset.format);
      for (run::Arg &arg : data.format.args)
        if (arg.name == "labels" || arg.name == "test_labels") arg.text = absolute(arg.text, *dataset.format);
    } else {
      const StringRef path = data.path;
      if (path.endswith(".csv")) data.format = {"csv", {}};
      else if (path.endswith(".npy")) data.format = {"npy", {}};
      else {
        compilation_.diags.report(dataset.at, diag::NativeFieldMissing{.field = "format", .owner = dataset.name.empty() ? "the dataset" : fmt::format("dataset `{}`", dataset.name)})
            .note(diag::NeededFields{.example = "`format = datasets.csv(label = \"label\")`"});
        return;
      }
    }
    data.columns = dataset.columns;
    data.label = !dataset.label.empty() ? dataset.label : data.format.text("label", "");
    if (job_.model) data.inputShape = job_.model->input;
    data.scale = dataset.scale;
    data.normalize = dataset.normalize == "none" ? "" : dataset.normalize;
    data.testFraction = dataset.testFraction;
    data.splitSeed = dataset.splitSeed;
    data.shuffle = dataset.shuffle;
    data.shuffleSeed = dataset.seed.value_or(job_.trainer->native->seed);
  }

  // Relative paths start at the file they are written in.
  std::string absolute(const std::string &path, const ir::Spec &spec) const {
    if (path.empty() || path[0] == '/' || !spec.at.valid()) return path;
    const StringRef file = compilation_.sources.path(spec.at.file);
    llvm::SmallString<256> result(llvm::sys::path::parent_path(file));
    llvm::sys::path::append(result, path);
    llvm::sys::path::remove_dots(result, /*remove_dot_dot=*/true);
    return result.str().str();
  }

  void trainer() {
    const ir::NativeTrainer &trainer = *job_.trainer->native;
    const std::string owner = job_.trainer->name.empty() ? "the trainer" : fmt::format("trainer `{}`", job_.trainer->name);
    auto missing = [&](const char *field, const char *example) {
      compilation_.diags.report(job_.trainer->at, diag::NativeFieldMissing{.field = field, .owner = owner}).note(diag::NeededFields{.example = example});
    };
    plan_.seed = job_.model && job_.model->seed ? *job_.model->seed : trainer.seed;
    plan_.precision = trainer.precision;
    const SourceRange at = job_.trainer->at;
    if (trainer.precision != "float32") compilation_.diags.report(at, diag::NotInThisVersion{.field = "precision", .value = "`" + trainer.precision + "`", .has = "`float32`"});
    if (trainer.shardOptimizer) compilation_.diags.report(at, diag::NotInThisVersion{.field = "shard_optimizer", .value = "true", .has = "one whole optimizer state per rank"});

    if (trainer.loss.name.empty()) missing("loss", "`loss = \"cross_entropy\"`");
    else if (known(trainer.loss, "loss", {"cross_entropy", "mse"})) loss(trainer);
    if (trainer.optimizer.name.empty()) missing("optimizer", "`optimizer = nn.sgd(lr = 0.05, momentum = 0.9)`");
    else if (known(trainer.optimizer, "optimizer", {"sgd", "adam", "adamw"})) optimizer(trainer.optimizer);
    if (trainer.schedule.name.empty()) plan_.schedule = {"constant", {}};
    else if (known(trainer.schedule, "schedule", {"constant", "cosine"})) schedule(trainer.schedule);

    run::LoopPlan &loop = plan_.loop;
    loop.globalBatch = trainer.batch;
    if (trainer.batch < 1) missing("batch", "`batch = 64`");
    else batch(trainer);
    if (!trainer.epochs && !trainer.steps) missing("epochs", "`epochs = 20`, or `steps = 1000`");
    loop.epochs = trainer.epochs.value_or(0);
    loop.steps = trainer.steps.value_or(0);
    loop.evalEvery = trainer.evalEvery.value_or(1);
    loop.clip = trainer.clip.value_or(0);
    loop.metrics = trainer.metrics;
    if (trainer.earlyStop) {
      loop.stopMetric = trainer.earlyStop->metric;
      loop.stopPatience = trainer.earlyStop->patience;
      loop.stopMinDelta = trainer.earlyStop->minDelta;
    }
    if (trainer.checkpoint) {
      loop.checkpointEvery = trainer.checkpoint->every;
      loop.checkpointKeep = trainer.checkpoint->keep;
    }
  }

  void loss(const ir::NativeTrainer &trainer) {
    plan_.loss = copy(trainer.loss);
    run::DataPlan &data = plan_.data;
    const bool classes = trainer.loss.name == "cross_entropy";
    data.targetKind = classes ? "class" : "real";
    if (!shaped_) return;
    const std::vector<int64_t> &output = plan_.layers.back().outputShape;
    const ir::Spec &last = job_.model->layers.back();
    if (classes && (output.size() != 1 || output[0] < 2)) {
      compilation_.diags.report(last.at, diag::OutputNotClasses{.shape = shapeText(output)});
      return;
    }
    if (!classes && output.size() != 1) {
      compilation_.diags.report(last.at, diag::OutputNotTargets{.shape = shapeText(output), .loss = trainer.loss.name});
      return;
    }
    if (classes) data.classes = output[0];
    else data.targetWidth = output[0];
    const bool cuts = last.name == "relu" || last.name == "dropout" || (classes && last.name == "tanh");
    if (cuts) {
      const char *wants = last.name == "dropout" ? "every value in every step" : classes ? "scores of any size and sign" : "values of either sign";
      compilation_.diags.report(last.at, diag::ActivationBeforeLoss{.layer = written(last), .loss = trainer.loss.name, .wants = wants});
    }
  }

  void optimizer(const ir::Spec &spec) {
    plan_.optimizer = copy(spec);
    auto share = [](double v) { return v >= 0 && v < 1; };
    auto notNegative = [](double v) { return v >= 0; };
    auto positive = [](double v) { return v > 0; };
    static constexpr const char *ShareRule = "at least 0 and less than 1";
    number(spec, "lr", 0, positive, "greater than 0");
    number(spec, "weight_decay", 0, notNegative, "0 or more");
    if (spec.name == "sgd") {
      const double momentum = number(spec, "momentum", 0, share, ShareRule);
      const Tree *nesterov = spec.arg("nesterov");
      const bool momentumBad = spec.arg("momentum") && momentum == 0;
      if (nesterov && nesterov->kind == Tree::Kind::Bool && nesterov->boolean && momentumBad)
        compilation_.diags.report(rangeOf(spec, "nesterov"), diag::BadSpecArgument{.argument = "momentum", .owner = "sgd", .value = "0", .rule = "greater than 0 with `nesterov`"});
      optimizerNumbers_ = momentum > 0 ? 1 : 0;
    } else {
      number(spec, "beta1", 0.9, share, ShareRule);
      number(spec, "beta2", 0.999, share, ShareRule);
      number(spec, "eps", 1e-8, positive, "greater than 0");
      optimizerNumbers_ = 2;
    }
  }

  void schedule(const ir::Spec &spec) {
    plan_.schedule = copy(spec);
    count(spec, "warmup", 0, 0);
    if (spec.name == "cosine") number(spec, "final", 0, [](double v) { return v >= 0 && v <= 1; }, "a fraction of the learning rate, 0 to 1");
  }

  void batch(const ir::NativeTrainer &trainer) {
    const SourceRange at = trainer.atBatch.valid() ? trainer.atBatch : job_.trainer->at;
    const int64_t ranks = plan_.ranks, batch = trainer.batch;
    if (batch < ranks) {
      compilation_.diags.report(at, diag::BatchTooSmall{.batch = batch, .ranks = ranks});
      return;
    }
    const int64_t most = (batch + ranks - 1) / ranks;
    if (batch % ranks != 0) {
      const int64_t below = batch / ranks * ranks, above = below + ranks;
      compilation_.diags.report(at, diag::BatchUneven{.batch = batch, .ranks = ranks, .more = most, .less = batch / ranks})
          .note(diag::NearestBatches{.text = fmt::format("{} and {} divide evenly", below, above)});
    }
    plan_.loop.microBatch = trainer.microBatch ? trainer.microBatch : most;
    if (most % plan_.loop.microBatch != 0) {
      int64_t below = std::min(plan_.loop.microBatch, most), above = below + 1;
      while (most % below != 0) --below;
      while (above < most && most % above != 0) ++above;
      auto report = compilation_.diags.report(at, diag::MicroBatchSplit{.micro = plan_.loop.microBatch, .rows = most});
      if (above <= most) report.note(diag::NearestBatches{.text = fmt::format("{} and {} do", below, above)});
      else report.note(diag::NearestBatches{.text = fmt::format("{} does", below)});
    }
  }

  void totals() {
    plan_.tool = "kftc " KFT_VERSION;
    plan_.job = job_.name;
    if (SourceRange at = job_.at.valid() ? job_.at : job_.atName; at.valid()) plan_.file = compilation_.sources.name(at.file).str();
    plan_.flopsPerSample = 3 * forwardFlops_;
    const int64_t bytes = static_cast<int64_t>(sizeof(float));
    // Every output is kept for the way back, where two buffers of the widest take turns. Layers that work in place need
    // less, so this is the most a rank takes.
    int64_t perSample = product(plan_.data.inputShape), widest = perSample;
    for (const run::LayerPlan &layer : plan_.layers) {
      perSample += product(layer.outputShape);
      widest = std::max(widest, product(layer.outputShape));
    }
    perSample += 2 * widest;
    const __int128 total = static_cast<__int128>(bytes) * ((2 + optimizerNumbers_) * static_cast<__int128>(plan_.parameters) + static_cast<__int128>(perSample) * plan_.loop.microBatch);
    if (total > INT64_MAX) {
      compilation_.diags.report(job_.model->at, diag::ModelTooLarge{.layer = "batch", .limit = fmt::format("{}", MostNumbers)});
      return;
    }
    plan_.bytesPerRank = static_cast<int64_t>(total);
    const int64_t gradient = plan_.parameters * bytes;
    plan_.bytesPerStep = plan_.ranks == 1 ? 0 : static_cast<int64_t>(2 * static_cast<__int128>(gradient) * (plan_.ranks - 1) / plan_.ranks);
    for (const auto &[name, text] : job_.resources.limits) {
      if (name != "memory") continue;
      const auto limit = parseAmount(text);
      const __int128 need = static_cast<__int128>(plan_.bytesPerRank) * plan_.ranksPerNode;
      if (limit && need > limit->nano / 1'000'000'000)
        compilation_.diags.report(job_.resources.at, diag::MemoryOverLimit{.need = run::bytesText(static_cast<double>(need)), .limit = text});
    }
  }

  std::string place(SourceRange range) const {
    if (!range.valid()) return "";
    const LineColumn at = compilation_.sources.lineColumn(range.file, range.begin);
    return fmt::format("{}:{}:{}", compilation_.sources.name(range.file).str(), at.line, at.column);
  }

  const ir::Job &job_;
  Compilation &compilation_;
  run::Plan plan_;
  std::set<std::string> warnedDevices_;
  int64_t forwardFlops_ = 0;
  int optimizerNumbers_ = 0; // floats of state per parameter
  bool shaped_ = false;      // every layer has its shapes
};

} // namespace

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += fmt::format("{}{}", i ? ", " : "", shape[i]);
  return text + "]";
}

int64_t product(const std::vector<int64_t> &shape) {
  int64_t result = 1;
  for (int64_t dimension : shape) result *= dimension;
  return result;
}

std::optional<run::Plan> make(const ir::Job &job, Compilation &compilation) { return Planner(job, compilation).make(); }

void checkWarmup(const run::Plan &plan, const ir::Job &job, Compilation &compilation) {
  const int64_t warmup = static_cast<int64_t>(plan.schedule.number("warmup", 0));
  if (warmup < 1 || plan.loop.steps < 1 || warmup < plan.loop.steps || !job.trainer || !job.trainer->native) return;
  const ir::Spec &spec = job.trainer->native->schedule;
  const Tree *tree = spec.arg("warmup");
  compilation.diags.report(tree && tree->origin.valid() ? tree->origin : SourceRange(spec.at), diag::WarmupTooLong{.warmup = warmup, .steps = plan.loop.steps});
}

} // namespace kft::plan
