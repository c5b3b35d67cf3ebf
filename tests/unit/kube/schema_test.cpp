#include "compiler/kube/schema.h"

#include "gtest/gtest.h"

#include <set>

namespace kft::kube {
namespace {

const Type &at(const Type *type, std::initializer_list<StringRef> path) {
  for (StringRef name : path) {
    while (type->shape == Shape::List || type->shape == Shape::Map)
      type = type->element;
    const Field *field = type->find(name);
    if (!field) {
      ADD_FAILURE() << "no field " << name.str() << " in " << type->name.str();
      return *type;
    }
    type = field->type;
  }
  return *type;
}

TEST(KubeSchema, KnowsTheKinds) {
  for (StringRef name : {"TrainJob", "TrainingRuntime", "ClusterTrainingRuntime", "JobSet", "MPIJob", "OptimizationJob"}) {
    const Kind *kind = findKind(name);
    ASSERT_NE(kind, nullptr) << name.str();
    EXPECT_NE(kind->type->find("spec"), nullptr) << name.str();
  }
  EXPECT_FALSE(findKind("ClusterTrainingRuntime")->isNamespaced);
  EXPECT_TRUE(findKind("TrainJob")->isNamespaced);
  EXPECT_EQ(findKind("TrainJob")->apiVersion, "trainer.kubeflow.org/v1alpha1");
  EXPECT_EQ(findKind("Pod"), nullptr);
}

TEST(KubeSchema, KeepsBoundsChoicesAndDefaults) {
  const Type *job = findKind("TrainJob")->type;
  const Type &deadline = at(job, {"spec", "activeDeadlineSeconds"});
  EXPECT_EQ(deadline.shape, Shape::Int);
  EXPECT_EQ(deadline.min, 1);
  EXPECT_EQ(deadline.max, INT64_MAX);
  const Type &procs = at(job, {"spec", "trainer", "numProcPerNode"});
  EXPECT_EQ(procs.min, 1);
  EXPECT_EQ(procs.max, INT32_MAX);
  const Type &runtime = *findKind("TrainingRuntime")->type;
  EXPECT_EQ(at(&runtime, {"spec", "podGroupPolicy", "volcano", "networkTopology", "mode"}).choices.size(), 2u);
  EXPECT_EQ(find("MpiPolicy")->find("sshAuthMountPath")->defaultText, "/root/.ssh");
  EXPECT_TRUE(find("RuntimeRef")->find("name")->required);
  EXPECT_EQ(at(&runtime, {"spec", "template", "spec", "replicatedJobs", "dependsOn"}).max, 5);
}

TEST(KubeSchema, TypesThePodSpecAllTheWayDown) {
  const Type *pod = find("PodSpec");
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(at(pod, {"containers", "resources", "limits"}).shape, Shape::Map);
  EXPECT_EQ(at(pod, {"containers", "resources", "limits"}).element->shape, Shape::Quantity);
  EXPECT_EQ(at(pod, {"containers", "readinessProbe", "tcpSocket", "port"}).shape, Shape::IntOrString);
  EXPECT_EQ(at(pod, {"volumes", "emptyDir", "sizeLimit"}).shape, Shape::Quantity);
  EXPECT_EQ(at(pod, {"affinity", "podAntiAffinity", "preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm", "topologyKey"}).shape,
            Shape::String);
}

TEST(KubeSchema, PatchesAllowLessThanPods) {
  const Type *patch = find("PodPatch");
  ASSERT_NE(patch, nullptr);
  EXPECT_NE(patch->find("tolerations"), nullptr);
  EXPECT_EQ(patch->find("priorityClassName"), nullptr);
  EXPECT_EQ(find("ContainerPatch")->find("image"), nullptr);
}

TEST(KubeSchema, ListsThatAreWrittenAsBlocks) {
  const Type *pod = find("PodSpec");
  EXPECT_EQ(at(pod, {"containers"}).blockKey(), "name");
  EXPECT_EQ(at(pod, {"containers", "env"}).blockKey(), "name");
  EXPECT_EQ(at(pod, {"containers", "volumeMounts"}).blockKey(), "mountPath");
  EXPECT_EQ(at(find("PodPatch"), {"containers", "volumeMounts"}).blockKey(), "mountPath");
  EXPECT_EQ(at(pod, {"containers", "ports"}).blockKey(), "name");
  EXPECT_EQ(at(pod, {"tolerations"}).blockKey(), "");
  EXPECT_EQ(at(pod, {"hostAliases"}).blockKey(), "ip");
  EXPECT_EQ(at(pod, {"topologySpreadConstraints"}).blockKey(), "");
  EXPECT_EQ(find("ReplicatedJob")->find("dependsOn")->type->blockKey(), "name");
}

TEST(KubeSchema, EveryReachableTypeIsWellFormed) {
  std::set<const Type *> seen;
  std::vector<const Type *> open;
  for (const Kind &kind : kinds())
    open.push_back(kind.type);
  while (!open.empty()) {
    const Type *type = open.back();
    open.pop_back();
    if (!seen.insert(type).second) continue;
    EXPECT_EQ(type->element != nullptr, type->shape == Shape::List || type->shape == Shape::Map);
    if (type->element) open.push_back(type->element);
    for (size_t i = 0; i < type->fields.size(); ++i) {
      if (i != 0) {
        EXPECT_LT(type->fields[i - 1].name, type->fields[i].name);
      }
      EXPECT_EQ(type->find(type->fields[i].name), &type->fields[i]);
      open.push_back(type->fields[i].type);
    }
    for (StringRef key : type->keys)
      EXPECT_NE(type->element->find(key), nullptr) << key.str();
    EXPECT_FALSE(describe(*type).empty());
  }
  EXPECT_GT(seen.size(), 150u);
}

} // namespace
} // namespace kft::kube
