#include "compiler/emit/emit.h"
#include "compiler/target/target.h"
#include "tests/unit/target/conforms.h"

#include <gtest/gtest.h>

namespace kft::target {
namespace {

Tree text(const char *value) { return Tree::of(value); }

ir::Runtime smallRuntime() {
  ir::Runtime runtime;
  runtime.name = "own";
  runtime.kubeName = "own";
  runtime.policy = "torch";
  runtime.framework = "torch";
  runtime.nodes = 1;
  ir::Group group;
  group.name = "node";
  group.step = "trainer";
  group.podSpec = Tree::map();
  Tree &container = group.podSpec.set("containers", Tree::list()).add(Tree::map());
  container.set("image", text("example.com/a:1"));
  container.set("name", text("node"));
  runtime.groups = {group};
  return runtime;
}

std::string written(const ir::Runtime &runtime) {
  Compilation compilation;
  const std::vector<Object> objects = build(runtime, compilation);
  EXPECT_TRUE(compilation.diags.all().empty());
  for (const Object &object : objects)
    for (const std::string &problem : problemsOf(object)) ADD_FAILURE() << problem;
  return emit::yaml(objects);
}

TEST(TrainingRuntime, ClusterScope) {
  EXPECT_EQ(written(smallRuntime()), R"(apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: own
  labels:
    trainer.kubeflow.org/framework: torch
spec:
  mlPolicy:
    numNodes: 1
    torch: {}
  template:
    spec:
      replicatedJobs:
        - name: node
          template:
            metadata:
              labels:
                trainer.kubeflow.org/trainjob-ancestor-step: trainer
            spec:
              template:
                spec:
                  containers:
                    - name: node
                      image: example.com/a:1
)");
}

TEST(TrainingRuntime, EverythingReachesTheManifest) {
  ir::Runtime runtime = smallRuntime();
  runtime.clusterScope = false;
  runtime.nameSpace = "team-a";
  runtime.policy = "plain";
  runtime.policySpec = Tree::map();
  runtime.gang = Tree::map();
  runtime.gang.set("coscheduling", Tree::map()).set("scheduleTimeoutSeconds", Tree::of(120));
  runtime.labels = {{"owner", "ml"}, {"trainer.kubeflow.org/framework", "mine"}};
  runtime.annotations = {{"a", "b"}};
  runtime.deprecated = true;
  runtime.templateMetadata = Tree::map();
  runtime.templateMetadata.set("labels", Tree::map()).set("s", text("t"));
  runtime.templateSpec = Tree::map();
  runtime.templateSpec.set("ttlSecondsAfterFinished", Tree::of(60));
  runtime.templateSpec.set("network", Tree::map()).set("publishNotReadyAddresses", Tree::of(true));
  ir::Group &group = runtime.groups[0];
  group.replicatedJob = Tree::map();
  Tree &depends = group.replicatedJob.set("dependsOn", Tree::list()).add(Tree::map());
  depends.set("name", text("other"));
  depends.set("status", text("Ready"));
  group.replicatedJob.set("replicas", Tree::of(1));
  group.replicatedJob.set("groupName", text("g"));
  group.jobMetadata = Tree::map();
  group.jobMetadata.set("labels", Tree::map()).set("l", text("m"));
  group.jobSpec = Tree::map();
  group.jobSpec.set("backoffLimit", Tree::of(0));
  group.podMetadata = Tree::map();
  group.podMetadata.set("annotations", Tree::map()).set("p", text("q"));
  EXPECT_EQ(written(runtime), R"(apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata:
  name: own
  namespace: team-a
  labels:
    trainer.kubeflow.org/support: deprecated
    owner: ml
    trainer.kubeflow.org/framework: mine
  annotations:
    a: b
spec:
  mlPolicy:
    numNodes: 1
  podGroupPolicy:
    coscheduling:
      scheduleTimeoutSeconds: 120
  template:
    metadata:
      labels:
        s: t
    spec:
      network:
        publishNotReadyAddresses: true
      ttlSecondsAfterFinished: 60
      replicatedJobs:
        - name: node
          replicas: 1
          groupName: g
          dependsOn:
            - name: other
              status: Ready
          template:
            metadata:
              labels:
                trainer.kubeflow.org/trainjob-ancestor-step: trainer
                l: m
            spec:
              backoffLimit: 0
              template:
                metadata:
                  annotations:
                    p: q
                spec:
                  containers:
                    - name: node
                      image: example.com/a:1
)");
}

TEST(TrainingRuntime, ContainersAndPodsHaveTheUsualOrder) {
  ir::Runtime runtime = smallRuntime();
  Tree &pod = runtime.groups[0].podSpec;
  Tree &container = pod.find("containers")->items[0];
  for (const char *key : {"volumeMounts", "resources", "env", "args", "command"}) container.set(key, Tree::list());
  pod.set("volumes", Tree::list());
  pod.set("subdomain", text("x"));
  pod.set("serviceAccountName", text("y"));
  Compilation compilation;
  const Object object = build(runtime, compilation)[0];
  const Tree &spec = *object.root.find("spec")->find("template")->find("spec")->find("replicatedJobs")->items[0].find("template")->find("spec")->find("template")->find("spec");
  std::string keys;
  for (const auto &[key, value] : spec.fields) keys += key + " ";
  for (const auto &[key, value] : spec.find("containers")->items[0].fields) keys += key + " ";
  EXPECT_EQ(keys, "serviceAccountName subdomain containers volumes name image command args env resources volumeMounts ");
}

} // namespace
} // namespace kft::target
