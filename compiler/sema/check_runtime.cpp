// Runtimes: groups, their containers and order, and what a job will find in them.
#include "compiler/sema/check_rules.h"

#include "llvm/ADT/STLExtras.h"

namespace kft::sema {
namespace {

// The container that carries a step, by the step's name.
StringRef containerOf(StringRef step) { return step == "trainer" ? StringRef("node") : step; }

const BlockValue *named(ArrayRef<Item> list, StringRef name) {
  for (const Item &item : list)
    if (item.value.is(ValueKind::Block) && textOf(item.value.asBlock(), "name") == name) return &item.value.asBlock();
  return nullptr;
}

} // namespace

void Checker::runtimeRules(const BlockValue &body, SourceRange at) {
  const StringRef policy = memberOf(body, "policy");
  const Entry *procs = body.find("procs_per_node");
  const BlockValue *policyBlock = blockAt(body, "policy");
  const BlockValue *member = policyBlock && !policyBlock->entries.empty() && policyBlock->entries[0].value.is(ValueKind::Block) ? &policyBlock->entries[0].value.asBlock() : nullptr;
  if (procs) {
    if (policy != "mpi" && policy != "flux")
      error(procs->keyRange, diag::ProcsNotOfPolicy{.policy = policy});
    else if (const Entry *same = member ? member->find("numProcPerNode") : nullptr) {
      failed_ = true;
      if (once<diag::BothGiven>(procs->keyRange))
        diags_.report(procs->keyRange, diag::BothGiven{.first = "procs_per_node", .second = "numProcPerNode"}).note(same->keyRange, diag::FirstGivenHere{});
    }
  }
  const Entry *scope = body.find("scope"), *nameSpace = body.find("namespace");
  if (nameSpace) {
    if (!scope || scope->value.asString() == "cluster") error(nameSpace->keyRange, diag::NamespaceOfCluster{});
    else dnsLabel(nameSpace->value.asString(), nameSpace->range, "namespace");
  }
  if (const Entry *framework = body.find("framework")) {
    labelValue(framework->value.asString(), framework->range, "`framework`");
    if (const BlockValue *labels = blockAt(body, "labels"))
      if (const Entry *same = labels->find("trainer.kubeflow.org/framework")) error(same->keyRange, diag::BothGiven{.first = same->key, .second = "framework"});
  }
  llvm::SmallVector<const Entry *, 4> groups;
  for (const Entry &entry : body.entries)
    if (entry.key == "group" && entry.value.is(ValueKind::Block)) groups.push_back(&entry);
  if (groups.empty()) {
    error(at, diag::NoGroups{});
    return;
  }
  const BlockValue *jobSet = blockAt(body, "template");
  const BlockValue *startup = jobSet ? blockAt(*jobSet, "startupPolicy") : nullptr;
  const bool inOrder = startup && textOf(*startup, "startupPolicyOrder") == "InOrder";
  llvm::SmallVector<StringRef, 4> earlier;
  llvm::StringMap<SourceRange> steps;
  for (const Entry *entry : groups) {
    const BlockValue &group = entry->value.asBlock();
    const ArrayRef<Item> containers = listAt(group, "containers");
    if (containers.empty()) {
      error(entry->nameRange, diag::GroupWithoutContainer{.group = entry->name});
      continue;
    }
    const StringRef step = textOf(group, "step");
    if (!step.empty()) {
      // Launcher and nodes of an MPI job may both be its trainer: then both get the job's image, and each keeps its own command.
      if (auto [first, isNew] = steps.try_emplace(step, entry->nameRange); !isNew && !(policy == "mpi" && step == "trainer") && once<diag::StepTwice>(group.find("step")->range)) {
        failed_ = true;
        diags_.report(group.find("step")->range, diag::StepTwice{.step = step}).note(first->second, diag::FirstGivenHere{});
      }
      const BlockValue *main = named(containers, containerOf(step));
      if (!main) {
        failed_ = true;
        const Entry *list = group.find("containers");
        if (once<diag::StepWithoutContainer>(list->keyRange)) {
          const std::string container = containerOf(step).str();
          auto report = diags_.report(list->keyRange, diag::StepWithoutContainer{.group = entry->name, .step = step, .container = container});
          report.rule("V137");
          if (containers.size() == 1)
            if (const Entry *name = containers[0].value.asBlock().find("name"))
              report.fixit(name->range, StringRef(container).contains('-') ? "\"" + container + "\"" : container, diag::DidYouMean{.name = container});
        }
      }
      if (const Entry *replicas = group.find("replicas"); replicas && replicas->value.asInt() != 1)
        error(replicas->range, diag::StepReplicas{.step = step, .value = std::to_string(replicas->value.asInt())});
      // C061: the claim that a job's initializers share goes by this name in every runtime.
      if (main && step != "trainer")
        for (const Item &mount : listAt(*main, "volumeMounts")) {
          const Entry *path = mount.value.asBlock().find("mountPath"), *name = mount.value.asBlock().find("name");
          if (!path || !name || !path->value.asString().startswith("/workspace") || name->value.asString() == "initializer") continue;
          failed_ = true;
          if (!once<diag::InitializerVolume>(name->range)) continue;
          auto report = diags_.report(name->range, diag::InitializerVolume{.volume = name->value.asString(), .group = entry->name});
          report.rule("V164");
          if (compilation_.sources.text(name->range).startswith("\"")) report.fixit(name->range, "\"initializer\"", diag::DidYouMean{.name = "initializer"});
        }
    } else if (const Entry *replicas = group.find("replicas"); replicas && replicas->value.asInt() < 0) {
      error(replicas->range, diag::StepReplicas{.step = entry->name, .value = std::to_string(replicas->value.asInt())});
    }
    if (const Entry *depends = group.find("dependsOn"); depends && !listAt(group, "dependsOn").empty()) {
      if (inOrder) error(depends->keyRange, diag::OrderAndDepends{});
      if (entry == groups.front()) error(depends->keyRange, diag::FirstGroupDepends{.group = entry->name});
      else
        for (const Item &item : listAt(group, "dependsOn")) {
          const Entry *name = item.value.asBlock().find("name");
          if (!name || llvm::is_contained(earlier, name->value.asString())) continue;
          failed_ = true;
          if (!once<diag::UnknownDependency>(name->range)) continue;
          const std::string others = listing(earlier);
          auto report = diags_.report(name->range, diag::UnknownDependency{.group = name->value.asString(), .others = others});
          report.rule("J021");
          StringRef near = nearestName(name->value.asString(), earlier);
          if (!near.empty()) report.note(diag::DidYouMean{.name = near});
        }
    }
    if (const Entry *groupName = group.find("groupName")) dnsLabel(groupName->value.asString(), groupName->range, "group", true);
    // K014
    if (const BlockValue *job = blockAt(group, "job"); job && job->find("podFailurePolicy") && textOf(group, "restartPolicy") != "Never") {
      const Entry *policyEntry = job->find("podFailurePolicy"), *restart = group.find("restartPolicy");
      failed_ = true;
      if (once<diag::FailurePolicyNeedsNever>(policyEntry->keyRange)) {
        auto report = diags_.report(policyEntry->keyRange, diag::FailurePolicyNeedsNever{.found = restart ? textOf(group, "restartPolicy") : StringRef("OnFailure")});
        report.rule("K014");
        if (restart) report.note(restart->range, diag::RestartGivenHere{});
      }
    }
    // Mounts name volumes of the pod, or claims that the JobSet makes for it.
    llvm::SmallVector<StringRef, 8> volumes;
    for (const Item &volume : listAt(group, "volumes"))
      volumes.push_back(textOf(volume.value.asBlock(), "name"));
    if (jobSet)
      for (const Item &claims : listAt(*jobSet, "volumeClaimPolicies"))
        for (const Item &claim : listAt(claims.value.asBlock(), "templates"))
          if (const BlockValue *metadata = blockAt(claim.value.asBlock(), "metadata")) volumes.push_back(textOf(*metadata, "name"));
    llvm::StringMap<bool> names;
    for (StringRef list : {"initContainers", "containers"})
      for (const Item &container : listAt(group, list)) {
        const Entry *name = container.value.asBlock().find("name");
        if (name && !names.try_emplace(name->value.asString(), true).second)
          error(name->range, diag::DuplicateKey{.key = name->value.asString(), .member = "name"});
        if (!container.value.asBlock().find("image") && !(list == "containers" && name && !step.empty() && name->value.asString() == "node"))
          error(name ? name->range : container.range, diag::ContainerWithoutImage{.container = name ? name->value.asString() : StringRef()});
        for (const Item &mount : listAt(container.value.asBlock(), "volumeMounts")) {
          const Entry *volume = mount.value.asBlock().find("name");
          if (!volume || llvm::is_contained(volumes, volume->value.asString())) continue;
          failed_ = true;
          if (!once<diag::UnknownVolume>(volume->range)) continue;
          auto report = diags_.report(volume->range, diag::UnknownVolume{.volume = volume->value.asString(), .group = entry->name});
          report.rule("K004");
          StringRef near = nearestName(volume->value.asString(), volumes);
          if (!near.empty()) report.note(diag::DidYouMean{.name = near});
        }
      }
    earlier.push_back(entry->name);
  }
  if (jobSet)
    if (const BlockValue *success = blockAt(*jobSet, "successPolicy"))
      for (const Item &item : listAt(*success, "targetReplicatedJobs"))
        if (!llvm::is_contained(earlier, item.value.asString())) {
          const std::string others = listing(earlier);
          error(item.range, diag::UnknownDependency{.group = item.value.asString(), .others = others});
        }
}

} // namespace kft::sema
