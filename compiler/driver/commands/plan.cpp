// kftc plan: what would run, before anything does.
#include "compiler/driver/commands/plan_text.h"
#include "compiler/driver/driver.h"
#include "compiler/driver/pipeline.h"
#include "compiler/plan/plan.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace kft::driver {

namespace {

using Json = nlohmann::ordered_json;

struct PlanOptions {
  std::string file, format = "text";
  Options input;
};

Json nativeJson(const run::Plan &plan) {
  const int64_t weights = plan.parameters * 4, state = optimizerBytes(plan);
  return {{"job", plan.job}, {"engine", "native"}, {"ranks", plan.ranks}, {"hash", run::hash(plan)},
          {"memory", {{"weights", weights}, {"gradients", weights}, {"optimizer", state}, {"activations", plan.bytesPerRank - 2 * weights - state}, {"total", plan.bytesPerRank}}},
          {"plan", Json::parse(run::toJson(plan))}};
}

Json commandJson(const ir::Job &job, const plan::CommandPlan &plan) {
  Json env = Json::array();
  for (const auto &variable : plan.env) {
    Json item{{"name", variable.name}, {"value", variable.value}, {"by", variable.injected ? "cluster" : "job"}};
    if (std::find(plan.perNode.begin(), plan.perNode.end(), variable.name) != plan.perNode.end()) item["perNode"] = true;
    env.push_back(item);
  }
  Json json{{"job", job.name}, {"engine", job.trainer && job.trainer->engine == ir::Engine::Torchtune ? "torchtune" : "command"}, {"runtime", job.runtime.kubeName}, {"policy", job.runtime.policy}, {"nodes", plan.nodes}};
  json["procsPerNode"] = plan.procsPerNode.empty() ? Json() : Json(plan.procsPerNode);
  json["reason"] = plan.procsReason;
  json["processes"] = plan.processes > 0 ? Json(plan.processes) : Json();
  json["command"] = plan.command;
  json["commandFrom"] = plan.commandFrom;
  json["env"] = env;
  if (!plan.hostfile.empty()) json["hostfile"] = plan.hostfile;
  if (!plan.longCommands.empty()) json["longCommands"] = plan.longCommands;
  json["notes"] = plan.notes;
  return json;
}

} // namespace

Action addPlan(CLI::App &app) {
  auto options = std::make_shared<PlanOptions>();
  app.add_option("FILE", options->file, "the file with the jobs; `-` is standard input")->required();
  addInputOptions(app, options->input);
  addJobOption(app, options->input);
  app.add_option("--format", options->format, "text for people, json for programs")->check(CLI::IsMember({"text", "json"}))->type_name("text|json")->group("Output");
  return [options](Session &session) -> int {
    auto compilation = newCompilation(options->input);
    const auto program = lowerFile(options->file, *compilation);
    if (!program) {
      session.show(*compilation);
      return session.exitCode();
    }
    std::string text;
    Json list = Json::array();
    bool first = true;
    for (const ir::Job &job : program->jobs) {
      if (job.trainer && job.trainer->engine == ir::Engine::Native) {
        auto made = makePlan(job, *compilation);
        if (!made) continue;
        // Data that only the cluster can reach leave the plan without rows; that is no mistake here.
        if (!job.dataset->isRemote && !plan::lookAtData(*made, job, *compilation)) continue;
        text += (first ? "" : "\n") + nativeText(*made);
        list.push_back(nativeJson(*made));
      } else {
        const plan::CommandPlan made = plan::describe(job);
        text += (first ? "" : "\n") + commandText(job, made);
        list.push_back(commandJson(job, made));
      }
      first = false;
    }
    if (session.show(*compilation)) return session.exitCode();
    if (options->format == "json") text = list.dump(2) + "\n";
    return session.writeStdout(text) ? session.exitCode() : ExitMistakes;
  };
}

} // namespace kft::driver
