#include "compiler/driver/commands/plan_text.h"
#include "compiler/plan/text.h"
#include "runtime/plan/text.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <fmt/format.h>

namespace kft::driver {

namespace {

using run::bytesText;
using run::countText;
using run::flopsText;

constexpr size_t Width = 80;

size_t columns(llvm::StringRef text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string &text, size_t width, bool right = false) {
  const size_t have = columns(text);
  const std::string blanks(have < width ? width - have : 0, ' ');
  return right ? blanks + text : text + blanks;
}

// Words as a shell would need them, broken before column 80 with backslashes.
std::string shellWords(const std::vector<std::string> &words, size_t indent) {
  std::string text, line;
  const std::string margin(indent, ' ');
  for (const std::string &word : words) {
    const bool plain = !word.empty() && llvm::StringRef(word).find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,") == llvm::StringRef::npos;
    std::string quoted = word;
    if (!plain) {
      quoted = "'";
      for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
      quoted += "'";
    }
    if (!line.empty() && indent + columns(line) + 1 + columns(quoted) + 2 > Width) {
      text += margin + line + " \\\n";
      line = "  " + quoted;
    } else {
      line += (line.empty() ? "" : " ") + quoted;
    }
  }
  return text + margin + line + "\n";
}

// `label` and text that goes on below itself.
std::string entry(const std::string &label, const std::string &text) {
  static constexpr size_t Indent = 16;
  std::string result, line;
  llvm::StringRef rest = text;
  while (!rest.empty()) {
    auto [word, after] = rest.split(' ');
    if (!line.empty() && Indent + columns(line) + 1 + columns(word) > Width) {
      result += (result.empty() ? "  " + padded(label, Indent - 2) : std::string(Indent, ' ')) + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word.str();
    rest = after;
  }
  return result + (result.empty() ? "  " + padded(label, Indent - 2) : std::string(Indent, ' ')) + line + "\n";
}

std::string plural(int64_t count, const char *one, const char *many) { return fmt::format("{} {}", count, count == 1 ? one : many); }

std::string call(const run::LayerPlan &layer) {
  std::string text = layer.kind + "(";
  bool first = true;
  for (const run::Arg &arg : layer.args) {
    if (arg.name == "bias" && arg.flag) continue; // as usual
    std::string value = arg.kind == run::Arg::Kind::Flag ? (arg.flag ? "true" : "false") : arg.kind == run::Arg::Kind::Text ? arg.text : fmt::format("{:g}", arg.number);
    if (arg.kind == run::Arg::Kind::Shape) value = plan::shapeText(arg.shape);
    text += (first ? "" : ", ") + (arg.kind == run::Arg::Kind::Flag ? arg.name + " = " : std::string()) + value;
    first = false;
  }
  return text + ")";
}

} // namespace

int64_t optimizerBytes(const run::Plan &plan) {
  const int64_t floats = plan.optimizer.kind == "sgd" ? (plan.optimizer.number("momentum", 0) > 0 ? 1 : 0) : 2;
  return floats * plan.parameters * 4;
}

std::string nativeText(const run::Plan &plan) {
  std::string text = fmt::format("{}   native, {} ({} × {} a node)\n\n", plan.job, plural(plan.ranks, "rank", "ranks"), plural(plan.nodes, "node", "nodes"), plural(plan.ranksPerNode, "process", "processes"));
  text += "  " + padded("layer", 30) + padded("output", 16) + padded("params", 12, true) + padded("FLOP/sample", 16, true) + "\n";
  text += "  " + padded("input", 30) + plan::shapeText(plan.data.inputShape) + "\n";
  int64_t forward = 0;
  for (const run::LayerPlan &layer : plan.layers) {
    forward += layer.flopsPerSample;
    text += "  " + padded(call(layer), 30) + padded(plan::shapeText(layer.outputShape), 16) + padded(layer.parameters ? countText(static_cast<double>(layer.parameters)) : "-", 12, true) +
            padded(layer.flopsPerSample ? countText(static_cast<double>(layer.flopsPerSample)) : "-", 16, true) + "\n";
  }
  text += "  " + padded("total", 46) + padded(countText(static_cast<double>(plan.parameters)), 12, true) + padded(countText(static_cast<double>(forward)), 16, true) + "\n\n";

  const int64_t weights = plan.parameters * 4, state = optimizerBytes(plan);
  text += entry("memory a rank", fmt::format("{}: weights {}, gradients {}, optimizer {}, activations {}", bytesText(static_cast<double>(plan.bytesPerRank)), bytesText(static_cast<double>(weights)),
                                             bytesText(static_cast<double>(weights)), bytesText(static_cast<double>(state)), bytesText(static_cast<double>(plan.bytesPerRank - 2 * weights - state))));
  const int64_t rows = (plan.loop.globalBatch + plan.ranks - 1) / plan.ranks;
  std::string share = plan.loop.globalBatch % plan.ranks == 0 ? fmt::format("{} a rank", rows) : fmt::format("{} or {} a rank", rows, rows - 1);
  if (plan.loop.microBatch < rows) share += fmt::format(" in pieces of {}", plan.loop.microBatch);
  text += entry("a step", fmt::format("{} rows ({}), {} a rank, {} sent by each rank", plan.loop.globalBatch, share, flopsText(static_cast<double>(plan.flopsPerSample) * static_cast<double>(rows)), bytesText(static_cast<double>(plan.bytesPerStep))));
  text += entry("threads", fmt::format("{} a rank", plan.threadsPerRank));
  if (plan.data.rows > 0) {
    text += entry("data", fmt::format("{} rows: {} to train, {} to test", plan.data.rows, plan.data.trainRows, plan.data.testRows));
    text += entry("", fmt::format("{} a rank in memory, sha256 {}…", bytesText(static_cast<double>(plan.data.rows) * static_cast<double>(plan::product(plan.data.inputShape)) * 4), plan.data.sha256.substr(0, 12)));
    const int64_t last = plan.loop.stepsPerEpoch > 0 ? plan.data.trainRows - (plan.loop.stepsPerEpoch - 1) * plan.loop.globalBatch : 0;
    std::string training = plan.loop.epochs > 0 ? fmt::format("{} × {} = {}", plural(plan.loop.epochs, "epoch", "epochs"), plural(plan.loop.stepsPerEpoch, "step", "steps"), plural(plan.loop.steps, "step", "steps"))
                                                : fmt::format("{} ({} an epoch)", plural(plan.loop.steps, "step", "steps"), plan.loop.stepsPerEpoch);
    if (last > 0 && last != plan.loop.globalBatch && plan.loop.stepsPerEpoch > 1) training += fmt::format("; the last step of an epoch has {} rows", last);
    text += entry("training", training);
    const double total = static_cast<double>(plan.flopsPerSample) * (plan.loop.epochs > 0 ? static_cast<double>(plan.data.trainRows) * static_cast<double>(plan.loop.epochs) : static_cast<double>(plan.loop.steps) * static_cast<double>(plan.loop.globalBatch));
    text += entry("", fmt::format("{} in all", flopsText(total)));
  }
  text += entry("loss", plan.loss.kind);
  std::string optimizer = plan.optimizer.kind;
  for (const run::Arg &arg : plan.optimizer.args)
    if (arg.kind == run::Arg::Kind::Number) optimizer += fmt::format(" {}={:g}", arg.name, arg.number);
  text += entry("optimizer", optimizer);
  std::string schedule = plan.schedule.kind;
  for (const run::Arg &arg : plan.schedule.args)
    if (arg.kind == run::Arg::Kind::Number) schedule += fmt::format(" {}={:g}", arg.name, arg.number);
  text += entry("schedule", schedule);
  text += entry("plan", run::hash(plan).substr(0, 16));
  return text;
}

std::string commandText(const ir::Job &job, const plan::CommandPlan &plan) {
  std::string text = fmt::format("{}   {} on runtime {}, {}", job.name, job.trainer && job.trainer->engine == ir::Engine::Torchtune ? "torchtune" : "command", job.runtime.kubeName, plural(plan.nodes, "node", "nodes"));
  if (plan.processes > 0) text += fmt::format(", {} in all", plural(plan.processes, "process", "processes"));
  text += "\n\n";
  text += entry("a node", plan.procsPerNode.empty() ? plan.procsReason : fmt::format("{} ({})", plan.procsPerNode == "1" ? "1 process" : plan.procsPerNode == "auto" ? "one process a GPU" : plan.procsPerNode + " processes", plan.procsReason));
  if (job.image) text += entry("image", *job.image);
  text += fmt::format("  {}(from the {})\n", padded("command", 14), plan.commandFrom);
  if (!plan.command.empty()) text += shellWords(plan.command, 4);
  bool first = true;
  for (const bool injected : {true, false}) {
    first = true;
    for (const auto &variable : plan.env) {
      if (variable.injected != injected) continue;
      if (std::exchange(first, false)) text += injected ? "  set by the cluster\n" : "  set by the job\n";
      const bool differs = std::find(plan.perNode.begin(), plan.perNode.end(), variable.name) != plan.perNode.end();
      text += fmt::format("    {}={}{}\n", variable.name, variable.value, differs && plan.nodes > 1 ? fmt::format("   (0 to {}, by node)", plan.nodes - 1) : "");
    }
  }
  if (!plan.hostfile.empty()) {
    text += "  hostfile\n";
    for (const std::string &line : plan.hostfile) text += "    " + line + "\n";
  }
  for (size_t i = 0; i < plan.longCommands.size(); ++i) {
    text += i == 0 ? "  written out, the same is\n" : "";
    text += shellWords(plan.longCommands[i], 4);
  }
  for (const std::string &note : plan.notes) text += entry("note", note);
  return text;
}

} // namespace kft::driver
