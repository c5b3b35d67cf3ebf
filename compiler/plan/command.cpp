#include "compiler/plan/command.h"
#include "compiler/basic/quantity.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <fmt/format.h>

namespace kft::plan {

namespace {

using ir::Tree;

constexpr const char *Port = "29500";

// The container that trains: `node` in the first group that is named so or has the step `trainer`.
const Tree *trainerContainer(const ir::Runtime &runtime) {
  auto containerOf = [](const ir::Group &group) -> const Tree * {
    const Tree *containers = group.podSpec.find("containers");
    if (!containers) return nullptr;
    for (const Tree &container : containers->items)
      if (const Tree *name = container.find("name"); name && name->text == "node") return &container;
    for (const auto &[key, container] : containers->fields)
      if (key == "node") return &container;
    return nullptr;
  };
  // The step decides about command and environment; a group that is only called so comes second.
  for (const ir::Group &group : runtime.groups)
    if (group.step == "trainer")
      if (const Tree *container = containerOf(group)) return container;
  for (const ir::Group &group : runtime.groups)
    if (group.name == "node")
      if (const Tree *container = containerOf(group)) return container;
  return nullptr;
}

std::string textOf(const Tree &tree) {
  switch (tree.kind) {
  case Tree::Kind::String: return tree.text;
  case Tree::Kind::Int: return fmt::format("{}", tree.integer);
  case Tree::Kind::Float: return fmt::format("{:g}", tree.number);
  case Tree::Kind::Bool: return tree.boolean ? "true" : "false";
  default: return "";
  }
}

std::vector<std::string> words(const Tree *container, const char *key) {
  std::vector<std::string> result;
  if (const Tree *list = container ? container->find(key) : nullptr)
    for (const Tree &item : list->items) result.push_back(textOf(item));
  return result;
}

struct Counted {
  ir::StringMap requests, limits;
  const char *whose = "the job's";
};

Counted resources(const ir::Job &job) {
  // The job's own are looked at alone, as the controller does: what only the runtime gives does not count then.
  if (job.resources.given()) return {job.resources.requests, job.resources.limits, "the job's"};
  Counted result{{}, {}, "the runtime's"};
  if (const Tree *container = trainerContainer(job.runtime))
    if (const Tree *given = container->find("resources"))
      for (auto [key, into] : {std::pair{"requests", &result.requests}, std::pair{"limits", &result.limits}})
        if (const Tree *map = given->find(key))
          for (const auto &[name, amount] : map->fields) into->emplace_back(name, textOf(amount));
  return result;
}

int64_t whole(const std::string &text) {
  const auto amount = parseAmount(text);
  return amount ? amount->ceil() : 0;
}

// Devices are counted by name, in requests first.
int64_t gpus(const Counted &resources, std::string &name) {
  for (const auto *list : {&resources.requests, &resources.limits}) {
    ir::StringMap sorted = *list;
    std::sort(sorted.begin(), sorted.end());
    for (const auto &[key, amount] : sorted)
      if (llvm::StringRef(key).lower().find("gpu") != std::string::npos && whole(amount) > 0) {
        name = key;
        return whole(amount);
      }
  }
  return 0;
}

int64_t cpus(const Counted &resources, std::string &which) {
  for (auto [list, label] : {std::pair{&resources.requests, "request"}, std::pair{&resources.limits, "limit"}})
    for (const auto &[key, amount] : *list)
      if (key == "cpu" && whole(amount) > 0) {
        which = label;
        return whole(amount);
      }
  return 0;
}

std::string valueFrom(const Tree &source) {
  for (const auto &[kind, reference] : source.fields) {
    const Tree *name = reference.find("name"), *key = reference.find("key"), *path = reference.find("fieldPath");
    std::string text = kind == "secretKeyRef" ? "secret" : kind == "configMapKeyRef" ? "config map" : "field";
    if (name) text += " " + name->text;
    if (key) text += ", key " + key->text;
    if (path) text += " " + path->text;
    return "(" + text + ")";
  }
  return "(set by the cluster)";
}

} // namespace

CommandPlan describe(const ir::Job &job) {
  CommandPlan plan;
  const std::string &policy = job.runtime.policy;
  const std::string name = job.kubeName;
  const std::string host = fmt::format("{0}-node-0-0.{0}", name);
  plan.nodes = job.nodes.value_or(job.runtime.nodes.value_or(1));

  const Tree *container = trainerContainer(job.runtime);
  plan.command = job.command ? *job.command : words(container, "command");
  const std::vector<std::string> arguments = job.args ? *job.args : words(container, "args");
  plan.commandFrom = job.command && !job.command->empty() ? "job" : !plan.command.empty() ? "runtime" : "image";
  const bool tune = plan.command.size() >= 2 && plan.command[0] == "tune" && plan.command[1] == "run";
  const std::vector<std::string> launcher = plan.command;
  plan.command.insert(plan.command.end(), arguments.begin(), arguments.end());
  if (launcher.empty()) plan.notes.push_back(arguments.empty() ? "neither the job nor the runtime gives a command: the image's own runs" : "no command is given: the arguments go to the image's own");

  const Counted given = resources(job);
  std::string device, cpuOf;
  const int64_t gpu = gpus(given, device), cpu = cpus(given, cpuOf);
  auto set = [&](const char *key, std::string value) { plan.env.push_back({key, std::move(value), true}); };
  auto own = [&] {
    for (const ir::EnvVar &variable : job.env) {
      const std::string value = variable.valueFrom.kind == Tree::Kind::Null ? variable.value : valueFrom(variable.valueFrom);
      plan.env.push_back({variable.name, value, false});
    }
  };

  if (policy == "torch") {
    if (job.procsPerNode) {
      plan.procsPerNode = fmt::format("{}", *job.procsPerNode);
      plan.procsReason = "procs_per_node of the job";
      plan.processes = *job.procsPerNode * plan.nodes;
      if (gpu > 0 && gpu != *job.procsPerNode) plan.notes.push_back(fmt::format("{} processes a node, but {} × {}", *job.procsPerNode, gpu, device));
    } else if (gpu > 0) {
      plan.procsPerNode = "auto";
      plan.procsReason = fmt::format("`auto`, and a GPU is asked for ({} {} = {}): torchrun counts those it sees", given.whose, device, gpu);
      plan.processes = gpu * plan.nodes;
    } else {
      const int64_t procs = std::max<int64_t>(1, cpu);
      plan.procsPerNode = fmt::format("{}", procs);
      plan.procsReason = cpu > 0 ? fmt::format("`auto` without a GPU is the CPU {}: {} cpu = {}", cpuOf, given.whose, cpu) : "`auto` without a GPU and without a CPU amount is 1";
      plan.processes = procs * plan.nodes;
    }
    own();
    set("PET_NNODES", fmt::format("{}", plan.nodes));
    set("PET_NPROC_PER_NODE", plan.procsPerNode);
    set("PET_NODE_RANK", "0");
    plan.perNode.push_back("PET_NODE_RANK");
    if (!tune) {
      set("PET_MASTER_ADDR", host);
      set("PET_MASTER_PORT", Port);
    } else {
      plan.notes.push_back("the controller adds recipe and `--config` to `tune run`; they depend on nodes, GPUs and lora");
    }
    // torchrun reads PET_*: the short command is complete, and this is what it amounts to.
    const bool isTorchrun = !launcher.empty() && llvm::StringRef(launcher[0]).rsplit('/').second == "torchrun";
    const bool bare = !launcher.empty() && launcher[0] == "torchrun";
    if (isTorchrun || bare) {
      std::vector<int64_t> shown;
      for (int64_t node = 0; node < plan.nodes; ++node)
        if (plan.nodes <= 3 || node == 0 || node == plan.nodes - 1) shown.push_back(node);
      for (int64_t node : shown) {
        std::vector<std::string> command{launcher[0], fmt::format("--nnodes={}", plan.nodes), fmt::format("--nproc-per-node={}", plan.procsPerNode), fmt::format("--node-rank={}", node), "--master-addr=" + host, fmt::format("--master-port={}", Port)};
        command.insert(command.end(), plan.command.begin() + 1, plan.command.end());
        plan.longCommands.push_back(std::move(command));
      }
    }
  } else if (policy == "jax") {
    plan.processes = plan.nodes;
    plan.procsReason = "jax runs one process per node";
    set("JAX_NUM_PROCESSES", fmt::format("{}", plan.nodes));
    set("JAX_PROCESS_ID", "0");
    plan.perNode.push_back("JAX_PROCESS_ID");
    set("JAX_COORDINATOR_ADDRESS", fmt::format("{}:{}", host, Port));
    own();
  } else if (policy == "xgboost") {
    const int64_t workers = std::max<int64_t>(1, gpu);
    plan.processes = plan.nodes * workers;
    plan.procsReason = gpu > 0 ? fmt::format("one worker per GPU ({} {} = {})", given.whose, device, gpu) : "one worker per node, as there is no GPU";
    if (workers > 1) plan.notes.push_back(fmt::format("DMLC_NUM_WORKER is {}, but DMLC_TASK_ID goes from 0 to {} only: the program has to start {} workers a node", plan.processes, plan.nodes - 1, workers));
    own();
    set("DMLC_TRACKER_URI", host);
    set("DMLC_TRACKER_PORT", Port);
    set("DMLC_TASK_ID", "0");
    plan.perNode.push_back("DMLC_TASK_ID");
    set("DMLC_NUM_WORKER", fmt::format("{}", plan.processes));
  } else if (policy == "mpi") {
    int64_t slots = 1;
    const Tree *fromPolicy = job.runtime.policySpec.find("numProcPerNode");
    if (job.procsPerNode) {
      slots = *job.procsPerNode;
      plan.procsReason = "procs_per_node of the job";
    } else {
      slots = fromPolicy && fromPolicy->kind == Tree::Kind::Int ? fromPolicy->integer : 1;
      plan.procsReason = fmt::format("{} in the runtime's policy", slots);
      if (slots == 1 && gpu > 1) {
        slots = gpu;
        plan.procsReason = fmt::format("1 in the runtime's policy is raised to the GPUs of a node ({} {} = {})", given.whose, device, gpu);
      }
    }
    if (gpu > 0 && gpu != slots) plan.notes.push_back(fmt::format("{} slots a node, but {} × {}", slots, gpu, device));
    if (cpu > 0 && slots > cpu) plan.notes.push_back(fmt::format("{} slots a node, but {} CPUs ({})", slots, cpu, cpuOf));
    plan.procsPerNode = fmt::format("{}", slots);
    plan.processes = slots * plan.nodes;
    const Tree *asNode = job.runtime.policySpec.find("runLauncherAsNode");
    const bool launcherIsNode = asNode && asNode->boolean;
    if (launcherIsNode) plan.hostfile.push_back(fmt::format("{0}-launcher-0-0.{0} slots={1}", name, slots));
    const int64_t workers = launcherIsNode ? std::max<int64_t>(plan.nodes - 1, 1) : plan.nodes;
    if (launcherIsNode && plan.nodes == 1) {
      plan.notes.push_back("with one node the launcher still gets a worker beside it: the hostfile has two hosts");
      plan.processes = 2 * slots;
    }
    for (int64_t i = 0; i < workers && i < 64; ++i) plan.hostfile.push_back(fmt::format("{0}-node-0-{1}.{0} slots={2}", name, i, slots));
    for (size_t i = 0; i + 1 < plan.command.size(); ++i)
      if (plan.command[i] == "-np" || plan.command[i] == "-n")
        if (int64_t count = 0; !llvm::StringRef(plan.command[i + 1]).getAsInteger(10, count) && count != plan.processes)
          plan.notes.push_back(fmt::format("`{} {}` uses {} of {} slots", plan.command[i], count, std::min(count, plan.processes), plan.processes));
    set("OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile");
    set("OMPI_MCA_orte_keep_fqdn_hostnames", "true");
    set("OMPI_MCA_orte_set_default_slots", fmt::format("{}", slots));
    set("OMPI_MCA_plm_rsh_args", "-o ConnectionAttempts=10");
    own();
  } else {
    plan.processes = plan.nodes;
    plan.procsReason = "the runtime's policy starts the command once per node";
    own();
  }
  // One entry a name; the later one holds.
  std::vector<CommandPlan::Variable> unique;
  for (CommandPlan::Variable &variable : plan.env) {
    auto same = std::find_if(unique.begin(), unique.end(), [&](const auto &other) { return other.name == variable.name; });
    if (same == unique.end()) unique.push_back(std::move(variable));
    else *same = std::move(variable);
  }
  plan.env = std::move(unique);
  return plan;
}

} // namespace kft::plan
