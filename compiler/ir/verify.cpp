#include "compiler/ir/verify.h"

#include "compiler/basic/check.h"

#include <set>

namespace kft::ir {
namespace {

// Keys are unique, and only maps and lists have children.
void verifyTree(const Tree &tree) {
  KFT_CHECK(tree.isMap() || tree.fields.empty(), "only a map has fields");
  KFT_CHECK(tree.isList() || tree.items.empty(), "only a list has items");
  std::set<std::string> keys;
  for (const auto &[key, value] : tree.fields) {
    KFT_CHECK(keys.insert(key).second, "the keys of a map are unique");
    verifyTree(value);
  }
  for (const Tree &item : tree.items)
    verifyTree(item);
}

void verifyEnv(const std::vector<EnvVar> &env) {
  std::set<std::string> names;
  for (const EnvVar &variable : env) {
    KFT_CHECK(!variable.name.empty() && names.insert(variable.name).second, "an environment has each name once");
    KFT_CHECK(variable.value.empty() || variable.valueFrom.kind == Tree::Kind::Null, "a variable has a text or a source");
  }
}

void verifyRuntime(const Runtime &runtime) {
  KFT_CHECK(!runtime.kubeName.empty(), "a runtime has a name");
  KFT_CHECK(!runtime.policy.empty() && runtime.policySpec.isMap(), "a runtime has one policy");
  KFT_CHECK(!runtime.groups.empty(), "a runtime has groups");
  KFT_CHECK(runtime.nodes && *runtime.nodes >= 1, "the default of nodes is filled in");
  std::set<std::string> names;
  for (const Group &group : runtime.groups) {
    KFT_CHECK(names.insert(group.name).second, "the groups of a runtime have different names");
    for (const Tree *tree : {&group.replicatedJob, &group.jobMetadata, &group.jobSpec, &group.podMetadata, &group.podSpec})
      verifyTree(*tree);
  }
  verifyTree(runtime.templateSpec);
  verifyTree(runtime.templateMetadata);
}

} // namespace

void verify(const Program &program) {
  for (const Runtime &runtime : program.runtimes) {
    KFT_CHECK(!runtime.installed, "an installed runtime is not written");
    verifyRuntime(runtime);
  }
  for (const Job &job : program.jobs) {
    KFT_CHECK(!job.kubeName.empty(), "a job has a name");
    verifyRuntime(job.runtime);
    verifyEnv(job.env);
    KFT_CHECK(!job.command || job.command->size() == job.atCommand.size(), "every word of the command has a place");
    KFT_CHECK(!job.args || job.args->size() == job.atArgs.size(), "every argument has a place");
    KFT_CHECK(!job.deadlineSeconds || *job.deadlineSeconds >= 1, "a deadline is at least a second");
    KFT_CHECK(!job.patchManager.empty(), "the default manager of patches is filled in");
    if (job.dataset) {
      if (job.dataset->initializer) verifyEnv(job.dataset->initializer->env);
      KFT_CHECK(job.dataset->isRemote || !job.dataset->localPath.empty(), "a dataset is remote or has a path");
    }
    if (!job.trainer) continue;
    KFT_CHECK((job.trainer->engine == Engine::Native) == job.trainer->native.has_value(), "the native engine and nobody else has its settings");
    if (const auto &native = job.trainer->native) {
      KFT_CHECK(native->epochs.has_value() != native->steps.has_value(), "either epochs or steps are set");
      KFT_CHECK(native->batch >= 1 && native->microBatch <= native->batch, "a micro batch is part of a batch");
    }
    for (const Patch &patch : job.patches)
      for (const Tree *tree : {&patch.replicatedJob, &patch.jobMetadata, &patch.jobSpec, &patch.podMetadata, &patch.podSpec})
        verifyTree(*tree);
  }
}

} // namespace kft::ir
