// One list of members per struct serves writing and reading, so the two cannot drift apart. Reading is strict: a member that
// is missing or unknown means another version, and a run must not guess.
#include "runtime/plan/run_plan.h"
#include "runtime/plan/sha256.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace kft::run {

using Json = nlohmann::ordered_json; // keeps the order of members

const Arg *Spec::find(const std::string &name) const {
  for (const Arg &arg : args)
    if (arg.name == name) return &arg;
  return nullptr;
}

double Spec::number(const std::string &name, double otherwise) const {
  const Arg *arg = find(name);
  return arg && arg->kind == Arg::Kind::Number ? arg->number : otherwise;
}

std::string Spec::text(const std::string &name, const std::string &otherwise) const {
  const Arg *arg = find(name);
  return arg && arg->kind == Arg::Kind::Text ? arg->text : otherwise;
}

bool Spec::flag(const std::string &name, bool otherwise) const {
  const Arg *arg = find(name);
  return arg && arg->kind == Arg::Kind::Flag ? arg->flag : otherwise;
}

namespace {

template <class V, class S> void members(V &v, S &s) requires std::is_same_v<std::remove_const_t<S>, Spec> {
  v("kind", s.kind), v("args", s.args);
}

template <class V, class L> void members(V &v, L &l) requires std::is_same_v<std::remove_const_t<L>, LayerPlan> {
  v("kind", l.kind), v("args", l.args), v("inputShape", l.inputShape), v("outputShape", l.outputShape);
  v("parameters", l.parameters), v("flopsPerSample", l.flopsPerSample), v("source", l.source), v("children", l.children);
}

template <class V, class D> void members(V &v, D &d) requires std::is_same_v<std::remove_const_t<D>, DataPlan> {
  v("path", d.path), v("testPath", d.testPath), v("format", d.format), v("columns", d.columns), v("label", d.label);
  v("inputShape", d.inputShape), v("targetKind", d.targetKind), v("classes", d.classes), v("targetWidth", d.targetWidth);
  v("scale", d.scale), v("normalize", d.normalize), v("testFraction", d.testFraction), v("splitSeed", d.splitSeed);
  v("shuffle", d.shuffle), v("shuffleSeed", d.shuffleSeed), v("rows", d.rows), v("trainRows", d.trainRows);
  v("testRows", d.testRows), v("sha256", d.sha256), v("source", d.source);
}

template <class V, class L> void members(V &v, L &l) requires std::is_same_v<std::remove_const_t<L>, LoopPlan> {
  v("globalBatch", l.globalBatch), v("microBatch", l.microBatch), v("epochs", l.epochs), v("steps", l.steps);
  v("stepsPerEpoch", l.stepsPerEpoch), v("dropLast", l.dropLast), v("evalEvery", l.evalEvery), v("clip", l.clip);
  v("metrics", l.metrics), v("stopMetric", l.stopMetric), v("stopPatience", l.stopPatience), v("stopMinDelta", l.stopMinDelta);
  v("checkpointEvery", l.checkpointEvery), v("checkpointKeep", l.checkpointKeep);
}

template <class V, class P> void members(V &v, P &p) requires std::is_same_v<std::remove_const_t<P>, Plan> {
  v("tool", p.tool), v("job", p.job), v("file", p.file), v("ranks", p.ranks), v("nodes", p.nodes);
  v("ranksPerNode", p.ranksPerNode), v("threadsPerRank", p.threadsPerRank), v("seed", p.seed), v("precision", p.precision);
  v("data", p.data), v("layers", p.layers), v("init", p.init), v("loss", p.loss), v("optimizer", p.optimizer);
  v("schedule", p.schedule), v("loop", p.loop), v("parameters", p.parameters), v("flopsPerSample", p.flopsPerSample);
  v("bytesPerRank", p.bytesPerRank), v("bytesPerStep", p.bytesPerStep);
}

Json numberJson(double x) {
  if (!std::isfinite(x)) throw std::runtime_error("a plan holds finite numbers only");
  // 128, not 128.0: most of them are counts, and people read this file.
  if (x == std::floor(x) && std::fabs(x) < 9007199254740992.0 && !(x == 0 && std::signbit(x))) return int64_t(x);
  return x;
}

struct Writer {
  Json out = Json::object();

  void operator()(const char *key, const auto &value) { out[key] = json(value); }

  static Json json(double x) { return numberJson(x); }
  static Json json(bool x) { return x; }
  static Json json(int x) { return x; }
  static Json json(int64_t x) { return x; }
  static Json json(uint64_t x) { return x; }
  static Json json(const std::string &x) { return x; }
  static Json json(const std::vector<Arg> &args) {
    Json object = Json::object();
    for (const Arg &arg : args) switch (arg.kind) {
      case Arg::Kind::Number: object[arg.name] = json(arg.number); break;
      case Arg::Kind::Text: object[arg.name] = arg.text; break;
      case Arg::Kind::Shape: object[arg.name] = arg.shape; break;
      case Arg::Kind::Flag: object[arg.name] = arg.flag; break;
      }
    return object;
  }
  template <class T> static Json json(const std::vector<T> &items) {
    Json array = Json::array();
    for (const T &item : items) array.push_back(json(item));
    return array;
  }
  template <class T> requires std::is_class_v<T> static Json json(const T &record) {
    Writer inner;
    members(inner, record);
    return std::move(inner.out);
  }
};

struct Reader {
  const Json &in;
  std::string path; // of the object being read: "data.", "layers[2]."
  std::set<std::string> seen{};

  [[noreturn]] static void fail(const std::string &where, const std::string &text) {
    throw std::runtime_error("not a plan this engine reads: `" + where + "` " + text);
  }

  template <class T> void operator()(const char *key, T &value) {
    seen.insert(key);
    auto found = in.find(key);
    if (found == in.end()) fail(path + key, "is missing");
    read(*found, path + key, value);
  }

  void finish() {
    for (auto &item : in.items())
      if (!seen.count(item.key())) fail(path + item.key(), "is unknown");
  }

  static void read(const Json &j, const std::string &at, double &x) {
    if (!j.is_number()) fail(at, "is no number");
    x = j.get<double>();
  }
  static void read(const Json &j, const std::string &at, bool &x) {
    if (!j.is_boolean()) fail(at, "is neither true nor false");
    x = j.get<bool>();
  }
  static void read(const Json &j, const std::string &at, int64_t &x) {
    if (!j.is_number_integer() || (j.is_number_unsigned() && j.get<uint64_t>() > uint64_t(INT64_MAX))) fail(at, "is no whole number");
    x = j.get<int64_t>();
  }
  static void read(const Json &j, const std::string &at, int &x) {
    int64_t wide;
    read(j, at, wide);
    if (wide < INT32_MIN || wide > INT32_MAX) fail(at, "is too large");
    x = int(wide);
  }
  static void read(const Json &j, const std::string &at, uint64_t &x) {
    if (!j.is_number_unsigned()) fail(at, "is no whole number of at least 0");
    x = j.get<uint64_t>();
  }
  static void read(const Json &j, const std::string &at, std::string &x) {
    if (!j.is_string()) fail(at, "is no text");
    x = j.get<std::string>();
  }
  static void read(const Json &j, const std::string &at, std::vector<Arg> &args) {
    if (!j.is_object()) fail(at, "is no object");
    args.clear();
    for (auto &item : j.items()) {
      Arg arg;
      arg.name = item.key();
      if (item.value().is_boolean()) arg.kind = Arg::Kind::Flag, read(item.value(), at, arg.flag);
      else if (item.value().is_string()) arg.kind = Arg::Kind::Text, read(item.value(), at, arg.text);
      else if (item.value().is_array()) arg.kind = Arg::Kind::Shape, read(item.value(), at + "." + arg.name, arg.shape);
      else read(item.value(), at + "." + arg.name, arg.number);
      args.push_back(std::move(arg));
    }
  }
  template <class T> static void read(const Json &j, const std::string &at, std::vector<T> &items) {
    if (!j.is_array()) fail(at, "is no list");
    items.clear();
    for (size_t i = 0; i < j.size(); ++i) {
      items.emplace_back();
      read(j[i], at + "[" + std::to_string(i) + "]", items.back());
    }
  }
  template <class T> requires std::is_class_v<T> static void read(const Json &j, const std::string &at, T &record) {
    if (!j.is_object()) fail(at, "is no object");
    Reader inner{j, at + "."};
    members(inner, record);
    inner.finish();
  }
};

Json toTree(const Plan &plan) {
  Writer writer;
  writer.out["version"] = Plan::Version;
  members(writer, plan);
  return std::move(writer.out);
}

std::string fileName(const std::string &path) { return path.substr(path.rfind('/') + 1); }

void forgetSources(std::vector<LayerPlan> &layers) {
  for (LayerPlan &layer : layers) layer.source.clear(), forgetSources(layer.children);
}

} // namespace

std::string toJson(const Plan &plan) { return toTree(plan).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Plan fromJson(const std::string &text) {
  Json tree = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (tree.is_discarded() || !tree.is_object()) throw std::runtime_error("not a plan this engine reads: the file is no JSON object");
  auto version = tree.find("version");
  if (version == tree.end() || !version->is_number_integer())
    throw std::runtime_error("not a plan this engine reads: `version` is missing");
  if (int64_t number = version->get<int64_t>(); number != Plan::Version)
    throw std::runtime_error("the plan has version " + std::to_string(number) + "; this engine reads version " +
                             std::to_string(Plan::Version) + ", use the `kftc` that belongs to it");
  tree.erase("version");
  Plan plan;
  Reader reader{tree, ""};
  members(reader, plan);
  reader.finish();
  return plan;
}

std::string hash(const Plan &plan) {
  Plan bare = plan;
  bare.tool.clear(), bare.file.clear(), bare.data.source.clear();
  forgetSources(bare.layers);
  // The content hash stands for the file; whether there is a second one still matters.
  bare.data.path.clear();
  if (!bare.data.testPath.empty()) bare.data.testPath = "given";
  for (Arg &arg : bare.data.format.args)
    if (arg.kind == Arg::Kind::Text && arg.text.size() > 1 && arg.text[0] == '/') arg.text = fileName(arg.text);
  return sha256(toJson(bare));
}

} // namespace kft::run
