// A job as TrainJob: a reference to its runtime, what the runtime's trainer and initializers do otherwise, and one patch for the
// rest. What a TrainJob has no field for is reported, never dropped.
#include "compiler/target/train_job.h"
#include "compiler/target/key_order.h"
#include "compiler/target/parts.h"
#include "compiler/target/target.h"

#include <algorithm>

namespace kft::target {

namespace {

using ir::Job;

// Where the pods of a native job find their plan.
constexpr const char *PlanPath = "/etc/kft/plan.json";
constexpr const char *RunDirectory = "/tmp/kft-run";
// Read by the launcher's command of `runtimes.mpi`.
constexpr const char *RanksVariable = "KFT_RANKS";

Tree textList(const std::vector<std::string> &texts, SourceRange at, const std::vector<ir::At> &origins = {}) {
  Tree list = Tree::list(at);
  for (size_t i = 0; i < texts.size(); ++i) list.add(Tree::of(texts[i], i < origins.size() ? SourceRange(origins[i]) : at));
  return list;
}

Tree envList(const std::vector<ir::EnvVar> &env, SourceRange at) {
  Tree list = Tree::list(at);
  for (const ir::EnvVar &variable : env) {
    Tree &item = list.add(Tree::map(variable.at));
    item.set("name", Tree::of(variable.name, variable.at));
    if (variable.valueFrom.empty()) item.set("value", Tree::of(variable.value, variable.at));
    else item.set("valueFrom", variable.valueFrom);
  }
  return list;
}

class TrainJobBuilder {
public:
  TrainJobBuilder(const Job &job, Compilation &compilation) : job_(job), compilation_(compilation) {}

  std::vector<Object> build() {
    const size_t before = compilation_.diags.errorCount();
    Object object = startObject("TrainJob", job_.kubeName, job_.nameSpace, job_.labels, job_.annotations, job_.at, job_.atName);
    Tree &spec = object.root.set("spec", Tree::map(job_.at));
    spec.set("runtimeRef", runtimeRef());
    if (Tree tree = initializers(); !tree.empty()) spec.set("initializer", std::move(tree));
    if (Tree tree = trainer(); job_.trainer || !tree.empty()) spec.set("trainer", std::move(tree));
    if (!job_.patches.empty()) spec.set("runtimePatches", Tree::list(job_.at)).add(patch());
    if (job_.deadlineSeconds) spec.set("activeDeadlineSeconds", Tree::of(*job_.deadlineSeconds, job_.at));
    if (job_.suspend) spec.set("suspend", Tree::of(*job_.suspend, job_.at));
    if (job_.managedBy) spec.set("managedBy", Tree::of(*job_.managedBy, job_.at));
    retries();
    if (compilation_.diags.errorCount() != before) return {};
    return {std::move(object)};
  }

private:
  bool isNative() const { return job_.trainer && job_.trainer->engine == ir::Engine::Native; }

  Tree runtimeRef() {
    Tree tree = Tree::map(job_.atRuntime);
    tree.set("name", Tree::of(job_.runtime.kubeName, job_.atRuntime));
    // A ClusterTrainingRuntime is what the cluster takes where nothing is said.
    if (!job_.runtime.clusterScope) tree.set("kind", Tree::of("TrainingRuntime", job_.atRuntime));
    if (job_.runtime.deprecated)
      compilation_.diags.report(job_.atRuntime, diag::DeprecatedRuntime{.runtime = job_.runtime.name});
    return tree;
  }

  static Tree initializer(const ir::Initializer &from) {
    Tree tree = Tree::map(from.at);
    tree.set("storageUri", Tree::of(from.storageUri, from.atUri));
    if (!from.secretName.empty()) tree.set("secretRef", Tree::map(from.at)).set("name", Tree::of(from.secretName, from.at));
    if (!from.env.empty()) tree.set("env", envList(from.env, from.at));
    return tree;
  }

  Tree initializers() {
    Tree tree = Tree::map(job_.at);
    if (job_.dataset) {
      if (job_.dataset->initializer) tree.set("dataset", initializer(*job_.dataset->initializer));
      // An absolute path may well be one of the image.
      else if (!job_.dataset->isRemote && !llvm::StringRef(job_.dataset->source).startswith("/") && !(isNative() && !job_.image))
        compilation_.diags.report(job_.dataset->atSource, diag::LocalSource{.source = job_.dataset->source}).note(diag::LocalSourceWay{});
    }
    if (job_.model && job_.model->initializer) tree.set("model", initializer(*job_.model->initializer));
    return tree;
  }

  int64_t ranks() const {
    const int64_t nodes = job_.nodes.value_or(job_.runtime.nodes.value_or(1));
    const Tree *procs = job_.runtime.policySpec.find("numProcPerNode");
    return nodes * job_.procsPerNode.value_or(procs && procs->kind == Tree::Kind::Int ? procs->integer : 1);
  }

  // The command of a native job, where the runtime does not bring one. With several trainer groups (`runtimes.mpi`) it must:
  // a command from the job would reach all of them, but only the launcher starts ranks.
  std::vector<std::string> nativeCommand() const {
    const auto &groups = job_.runtime.groups;
    if (std::count_if(groups.begin(), groups.end(), [](const ir::Group &group) { return group.step == "trainer"; }) > 1) return {};
    std::vector<std::string> command;
    if (job_.runtime.policy == "mpi") command = {"mpirun", "-n", std::to_string(ranks())};
    for (const char *word : {"kft-rank", PlanPath, "--run-dir", RunDirectory}) command.emplace_back(word);
    return command;
  }

  Tree trainer() {
    Tree tree = Tree::map(job_.trainer ? SourceRange(job_.trainer->at) : SourceRange(job_.at));
    std::vector<ir::EnvVar> env = job_.env;
    std::optional<std::vector<std::string>> command = job_.command;
    std::vector<ir::At> atCommand = job_.atCommand;
    if (isNative()) {
      if (!job_.image)
        compilation_.diags.report(job_.atName, diag::NativeWithoutImage{.job = job_.name}).note(diag::NativeImageWay{});
      if (!command) {
        std::vector<std::string> words = nativeCommand();
        if (!words.empty()) {
          command = std::move(words);
        } else if (std::none_of(env.begin(), env.end(), [](const ir::EnvVar &variable) { return variable.name == RanksVariable; })) {
          ir::EnvVar variable{RanksVariable, std::to_string(ranks()), {}, job_.atNodes};
          env.insert(env.begin(), variable);
        }
      }
    }
    if (job_.workdir) {
      if (command && !command->empty()) {
        // The shell replaces itself by the command, so signals reach it; the words stay words.
        command->insert(command->begin(), {"sh", "-c", "cd \"$0\" && exec \"$@\"", *job_.workdir});
        atCommand.insert(atCommand.begin(), 4, ir::At(job_.at));
      } else {
        compilation_.diags.report(job_.at, diag::WorkdirWithoutCommand{.directory = *job_.workdir}).note(diag::WorkdirWay{});
      }
    }
    if (job_.image) tree.set("image", Tree::of(*job_.image, job_.atImage));
    if (command) tree.set("command", textList(*command, job_.at, atCommand));
    if (job_.args) tree.set("args", textList(*job_.args, job_.at, job_.atArgs));
    if (!env.empty()) tree.set("env", envList(env, job_.at));
    if (job_.nodes) tree.set("numNodes", Tree::of(*job_.nodes, job_.atNodes));
    if (job_.procsPerNode) tree.set("numProcPerNode", Tree::of(*job_.procsPerNode, job_.atProcs));
    if (job_.resources.given()) {
      Tree &resources = tree.set("resourcesPerNode", Tree::map(job_.resources.at));
      if (!job_.resources.requests.empty()) resources.set("requests", mapOf(job_.resources.requests, job_.resources.at));
      if (!job_.resources.limits.empty()) resources.set("limits", mapOf(job_.resources.limits, job_.resources.at));
    }
    return tree;
  }

  Tree patch() const {
    Tree entry = Tree::map(job_.at);
    entry.set("manager", Tree::of(job_.patchManager, job_.at));
    Tree &jobSet = entry.set("trainingRuntimeSpec", Tree::map(job_.at)).set("template", Tree::map(job_.at));
    Tree metadata, jobs = Tree::list(job_.at);
    for (const ir::Patch &patch : job_.patches) {
      if (patch.group.empty())
        for (const auto &[key, value] : patch.podMetadata.fields) metadata.set(key, value);
      else
        jobs.add(replicatedJob(patch.group, patch.replicatedJob, patch.jobMetadata, patch.jobSpec, patch.podMetadata, patch.podSpec, patch.at));
    }
    if (!metadata.empty()) jobSet.set("metadata", std::move(metadata));
    if (!jobs.empty()) jobSet.set("spec", Tree::map(job_.at)).set("replicatedJobs", std::move(jobs));
    return entry;
  }

  void retries() {
    if (job_.retries && job_.retries->count > 0)
      compilation_.diags.report(job_.atName, diag::RetriesNotCarried{.job = job_.name}).note(diag::RetriesWay{.count = job_.retries->count});
  }

  const Job &job_;
  Compilation &compilation_;
};

} // namespace

std::vector<Object> trainJob(const Job &job, Compilation &compilation) { return TrainJobBuilder(job, compilation).build(); }

} // namespace kft::target
