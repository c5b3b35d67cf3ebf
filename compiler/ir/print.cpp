#include "compiler/ir/print.h"

#include <charconv>

namespace kft::ir {
namespace {

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    switch (c) {
    case '"': result += "\\\""; break;
    case '\\': result += "\\\\"; break;
    case '\n': result += "\\n"; break;
    case '\r': result += "\\r"; break;
    case '\t': result += "\\t"; break;
    default:
      if (static_cast<unsigned char>(c) < 0x20) {
        constexpr char hex[] = "0123456789abcdef";
        result += "\\u00";
        result += hex[c >> 4];
        result += hex[c & 15];
      } else {
        result += c;
      }
    }
  }
  return result + "\"";
}

std::string numberText(double value) {
  char buffer[40];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

class Printer {
public:
  std::string out;

  void open(const std::string &head) {
    line(head + " {");
    ++depth_;
  }
  void close() {
    --depth_;
    line("}");
  }
  void line(const std::string &text) { out += std::string(depth_ * 2, ' ') + text + "\n"; }
  void text(const char *name, const std::string &value) {
    if (!value.empty()) line(std::string(name) + " = " + quoted(value));
  }
  void number(const char *name, int64_t value) { line(std::string(name) + " = " + std::to_string(value)); }
  void number(const char *name, const std::optional<int64_t> &value) {
    if (value) number(name, *value);
  }
  void flag(const char *name, bool value) { line(std::string(name) + " = " + (value ? "true" : "false")); }
  void tree(const char *name, const Tree &value) {
    if (value.kind != Tree::Kind::Null) line(std::string(name) + " = " + print(value));
  }
  void map(const char *name, const StringMap &map) {
    if (map.empty()) return;
    open(name);
    for (const auto &[key, value] : map)
      line(quoted(key) + " = " + quoted(value));
    close();
  }
  void list(const char *name, const std::vector<std::string> &items) {
    std::string joined;
    for (const std::string &item : items)
      joined += (joined.empty() ? "" : ", ") + quoted(item);
    line(std::string(name) + " = [" + joined + "]");
  }
  void env(const std::vector<EnvVar> &variables) {
    if (variables.empty()) return;
    open("env");
    for (const EnvVar &variable : variables)
      line(variable.name + " = " + (variable.valueFrom.kind == Tree::Kind::Null ? quoted(variable.value) : print(variable.valueFrom)));
    close();
  }

  static std::string call(const Spec &spec) {
    std::string args;
    for (const auto &[name, value] : spec.args)
      args += (args.empty() ? "" : ", ") + name + " = " + print(value);
    return spec.name + "(" + args + ")";
  }

  void initializer(const std::optional<Initializer> &initializer) {
    if (!initializer) return;
    open("initializer");
    text("storageUri", initializer->storageUri);
    text("secretName", initializer->secretName);
    env(initializer->env);
    close();
  }

  void job(const Job &job) {
    open("job " + quoted(job.name));
    text("kubeName", job.kubeName);
    text("namespace", job.nameSpace);
    text("runtime", job.runtime.kubeName);
    if (job.trainer) trainer(*job.trainer);
    if (job.dataset) dataset(*job.dataset);
    if (job.model) model(*job.model);
    number("nodes", job.nodes);
    number("procsPerNode", job.procsPerNode);
    if (job.resources.given()) {
      open("resources");
      map("limits", job.resources.limits);
      map("requests", job.resources.requests);
      close();
    }
    if (job.image) line("image = " + quoted(*job.image));
    if (job.command) list("command", *job.command);
    if (job.args) list("args", *job.args);
    if (job.workdir) line("workdir = " + quoted(*job.workdir));
    env(job.env);
    number("deadlineSeconds", job.deadlineSeconds);
    if (job.suspend) flag("suspend", *job.suspend);
    if (job.managedBy) text("managedBy", *job.managedBy);
    map("labels", job.labels);
    map("annotations", job.annotations);
    for (const Patch &patch : job.patches) {
      open(patch.group.empty() ? "patch" : "patch " + quoted(patch.group));
      pod(patch);
      close();
    }
    if (!job.patches.empty()) text("patchManager", job.patchManager);
    if (job.retries) {
      open("retries");
      number("count", job.retries->count);
      number("backoffMilliseconds", job.retries->backoffMilliseconds);
      list("on", job.retries->on);
      close();
    }
    close();
  }

  template <typename Pod>
  void pod(const Pod &pod) {
    tree("replicatedJob", pod.replicatedJob);
    tree("jobMetadata", pod.jobMetadata);
    tree("jobSpec", pod.jobSpec);
    tree("podMetadata", pod.podMetadata);
    tree("podSpec", pod.podSpec);
  }

  void trainer(const Trainer &trainer) {
    open(trainer.name.empty() ? "trainer" : "trainer " + quoted(trainer.name));
    text("engine", trainer.engine == Engine::Native ? "native" : trainer.engine == Engine::Torchtune ? "torchtune" : "command");
    if (trainer.native) {
      const NativeTrainer &native = *trainer.native;
      line("loss = " + call(native.loss));
      line("optimizer = " + call(native.optimizer));
      line("schedule = " + call(native.schedule));
      number("batch", native.batch);
      if (native.microBatch) number("microBatch", native.microBatch);
      number("epochs", native.epochs);
      number("steps", native.steps);
      if (native.clip) line("clip = " + numberText(*native.clip));
      if (!native.metrics.empty()) list("metrics", native.metrics);
      number("evalEvery", native.evalEvery);
      if (native.earlyStop)
        line("earlyStop = { metric = " + quoted(native.earlyStop->metric) + ", patience = " + std::to_string(native.earlyStop->patience) +
             ", minDelta = " + numberText(native.earlyStop->minDelta) + " }");
      if (native.checkpoint)
        line("checkpoint = { every = " + std::to_string(native.checkpoint->every) + ", keep = " + std::to_string(native.checkpoint->keep) + " }");
      number("seed", static_cast<int64_t>(native.seed));
      text("precision", native.precision);
      flag("shardOptimizer", native.shardOptimizer);
    }
    close();
  }

  void dataset(const Dataset &dataset) {
    open(dataset.name.empty() ? "dataset" : "dataset " + quoted(dataset.name));
    // Not `localPath`: the text is the same on every machine.
    text("source", dataset.source);
    flag("isRemote", dataset.isRemote);
    initializer(dataset.initializer);
    if (dataset.format) {
      Spec format = *dataset.format;
      std::erase_if(format.args, [](const auto &arg) { return arg.first == "labels"; });
      line("format = " + call(format));
    }
    if (!dataset.columns.empty()) list("columns", dataset.columns);
    text("label", dataset.label);
    line("scale = " + numberText(dataset.scale));
    text("normalize", dataset.normalize);
    if (dataset.testFraction > 0) line("split = { test = " + numberText(dataset.testFraction) + ", seed = " + std::to_string(dataset.splitSeed) + " }");
    text("test", dataset.testSource);
    flag("shuffle", dataset.shuffle);
    if (dataset.seed) number("seed", static_cast<int64_t>(*dataset.seed));
    close();
  }

  void model(const Model &model) {
    open(model.name.empty() ? "model" : "model " + quoted(model.name));
    initializer(model.initializer);
    if (!model.layers.empty()) {
      std::string shape;
      for (int64_t size : model.input)
        shape += (shape.empty() ? "" : ", ") + std::to_string(size);
      line("input = [" + shape + "]");
      text("dtype", model.dtype);
      text("init", model.init);
      open("layers");
      for (const Spec &layer : model.layers)
        line(call(layer));
      close();
    }
    if (model.seed) number("seed", static_cast<int64_t>(*model.seed));
    close();
  }

  void runtime(const Runtime &runtime) {
    open("runtime " + quoted(runtime.name));
    text("kubeName", runtime.kubeName);
    text("scope", runtime.clusterScope ? "cluster" : "namespace");
    text("namespace", runtime.nameSpace);
    text("framework", runtime.framework);
    line("policy = " + runtime.policy + " " + print(runtime.policySpec));
    number("nodes", runtime.nodes);
    tree("gang", runtime.gang);
    map("labels", runtime.labels);
    map("annotations", runtime.annotations);
    flag("deprecated", runtime.deprecated);
    for (const Group &group : runtime.groups) {
      open("group " + quoted(group.name));
      text("step", group.step);
      pod(group);
      close();
    }
    tree("templateMetadata", runtime.templateMetadata);
    tree("templateSpec", runtime.templateSpec);
    close();
  }

private:
  size_t depth_ = 0;
};

} // namespace

std::string print(const Tree &tree) {
  switch (tree.kind) {
  case Tree::Kind::Null: return "null";
  case Tree::Kind::Bool: return tree.boolean ? "true" : "false";
  case Tree::Kind::Int: return std::to_string(tree.integer);
  case Tree::Kind::Float: return numberText(tree.number);
  case Tree::Kind::String: return quoted(tree.text);
  case Tree::Kind::List: {
    std::string text;
    for (const Tree &item : tree.items)
      text += (text.empty() ? "" : ", ") + print(item);
    return "[" + text + "]";
  }
  case Tree::Kind::Map: {
    std::string text;
    for (const auto &[key, value] : tree.fields)
      text += (text.empty() ? "" : ", ") + quoted(key) + ": " + print(value);
    return "{" + text + "}";
  }
  }
  return {};
}

std::string print(const Program &program) {
  Printer printer;
  for (const Runtime &runtime : program.runtimes)
    printer.runtime(runtime);
  for (const Job &job : program.jobs)
    printer.job(job);
  return std::move(printer.out);
}

} // namespace kft::ir
