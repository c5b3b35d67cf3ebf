// A runtime as TrainingRuntime or ClusterTrainingRuntime.
#include "compiler/target/key_order.h"
#include "compiler/target/parts.h"
#include "compiler/target/target.h"

#include <algorithm>

namespace kft::target {

namespace {

ir::StringMap labelsOf(const ir::Runtime &runtime) {
  ir::StringMap labels;
  auto add = [&](const char *key, const std::string &value) {
    const bool isGiven = std::any_of(runtime.labels.begin(), runtime.labels.end(), [&](const auto &label) { return label.first == key; });
    if (!isGiven && !value.empty()) labels.emplace_back(key, value);
  };
  add("trainer.kubeflow.org/framework", runtime.framework);
  if (runtime.deprecated) add("trainer.kubeflow.org/support", "deprecated");
  labels.insert(labels.end(), runtime.labels.begin(), runtime.labels.end());
  return labels;
}

Tree groupOf(const ir::Group &group) {
  Tree jobMetadata = group.jobMetadata;
  if (!group.step.empty()) {
    // The step in front: it is what the label is read for.
    Tree labels = Tree::map(group.at);
    labels.set(StepLabel.str(), Tree::of(group.step, group.at));
    if (const Tree *given = jobMetadata.find("labels"))
      for (const auto &[key, value] : given->fields)
        if (key != StepLabel) labels.set(key, value);
    jobMetadata.set("labels", std::move(labels));
  }
  return replicatedJob(group.name, group.replicatedJob, jobMetadata, group.jobSpec, group.podMetadata, group.podSpec, group.at);
}

} // namespace

std::vector<Object> build(const ir::Runtime &runtime, Compilation &) {
  const SourceRange at = runtime.at;
  Object object = startObject(runtime.clusterScope ? "ClusterTrainingRuntime" : "TrainingRuntime", runtime.kubeName, runtime.clusterScope ? std::string() : runtime.nameSpace,
                              labelsOf(runtime), runtime.annotations, at, runtime.atName);
  Tree &spec = object.root.set("spec", Tree::map(at));

  Tree &policy = spec.set("mlPolicy", Tree::map(at));
  if (runtime.nodes) policy.set("numNodes", Tree::of(*runtime.nodes, at));
  // `plain` is what Kubeflow Trainer does without a policy.
  if (!runtime.policy.empty() && runtime.policy != "plain") {
    Tree &member = policy.set(runtime.policy, Tree::map(at));
    if (const Tree *procs = runtime.policySpec.find("numProcPerNode")) member.set("numProcPerNode", *procs);
    for (const auto &[key, value] : runtime.policySpec.fields) member.set(key, value);
  }
  if (policy.empty()) spec.fields.pop_back();

  if (!runtime.gang.empty()) spec.set("podGroupPolicy", runtime.gang);

  Tree &jobSet = spec.set("template", Tree::map(at));
  if (!runtime.templateMetadata.empty()) jobSet.set("metadata", runtime.templateMetadata);
  Tree jobSetSpec = runtime.templateSpec.isMap() ? runtime.templateSpec : Tree::map(at);
  orderJobSetSpec(jobSetSpec);
  Tree &jobs = jobSetSpec.set("replicatedJobs", Tree::list(at));
  for (const ir::Group &group : runtime.groups) jobs.add(groupOf(group));
  jobSet.set("spec", std::move(jobSetSpec));
  return {std::move(object)};
}

} // namespace kft::target
