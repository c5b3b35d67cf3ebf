#include "compiler/emit/emit.h"
#include "compiler/target/target.h"
#include "tests/unit/target/conforms.h"

#include <gtest/gtest.h>

namespace kft::target {
namespace {

using ir::EnvVar;
using ir::Job;

Tree text(const char *value) { return Tree::of(value); }

ir::Group trainerGroup(const char *name) {
  ir::Group group;
  group.name = name;
  group.step = "trainer";
  return group;
}

Job smallJob() {
  Job job;
  job.name = "demo";
  job.kubeName = "demo";
  job.runtime.name = "torch";
  job.runtime.kubeName = "torch-distributed";
  job.runtime.installed = true;
  job.runtime.policy = "torch";
  job.runtime.nodes = 1;
  job.runtime.groups = {trainerGroup("node")};
  job.patchManager = "kft.dev/kftc";
  return job;
}

Job nativeJob() {
  Job job = smallJob();
  job.runtime.policy = "mpi";
  job.runtime.policySpec = Tree::map();
  job.runtime.policySpec.set("numProcPerNode", Tree::of(2));
  job.trainer.emplace();
  job.trainer->engine = ir::Engine::Native;
  job.image = "example.com/kft:1";
  job.nodes = 3;
  return job;
}

std::string written(const Job &job) {
  Compilation compilation;
  const std::vector<Object> objects = build(job, Kind::TrainJob, compilation);
  EXPECT_TRUE(compilation.diags.all().empty());
  for (const Object &object : objects)
    for (const std::string &problem : problemsOf(object)) ADD_FAILURE() << problem;
  return emit::yaml(objects);
}

std::vector<int> reported(const Job &job, size_t objects) {
  Compilation compilation;
  EXPECT_EQ(build(job, Kind::TrainJob, compilation).size(), objects);
  std::vector<int> ids;
  for (const Diagnostic &item : compilation.diags.all()) ids.push_back(item.id);
  return ids;
}

TEST(TrainJob, SmallestHasNameAndRuntime) {
  EXPECT_EQ(written(smallJob()), R"(apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: demo
spec:
  runtimeRef:
    name: torch-distributed
)");
}

TEST(TrainJob, EverythingReachesTheManifestInTheUsualOrder) {
  Job job = smallJob();
  job.nameSpace = "team-a";
  job.runtime.clusterScope = false;
  job.labels = {{"kueue.x-k8s.io/queue-name", "research"}};
  job.annotations = {{"note", "y"}};
  job.dataset.emplace();
  job.dataset->isRemote = true;
  job.dataset->initializer = ir::Initializer{.storageUri = "hf://tatsu-lab/alpaca", .secretName = "hub", .env = {EnvVar{.name = "A", .value = "1", .valueFrom = {}, .at = {}}}, .at = {}, .atUri = {}};
  job.model.emplace();
  job.model->initializer = ir::Initializer{.storageUri = "s3://bucket/model", .secretName = "", .env = {}, .at = {}, .atUri = {}};
  job.trainer.emplace();
  job.image = "example.com/train:1";
  job.command = {"torchrun", "train.py"};
  job.args = {"--lr=0.1", "-De", "8"};
  EnvVar token{.name = "HF_TOKEN", .value = "", .valueFrom = Tree::map(), .at = {}};
  Tree &ref = token.valueFrom.set("secretKeyRef", Tree::map());
  ref.set("name", text("hub"));
  ref.set("key", text("token"));
  job.env = {EnvVar{.name = "EMPTY", .value = "", .valueFrom = {}, .at = {}}, token};
  job.nodes = 4;
  job.procsPerNode = 8;
  job.resources.limits = {{"nvidia.com/gpu", "8"}};
  job.resources.requests = {{"cpu", "1500m"}, {"memory", "400Gi"}};
  job.deadlineSeconds = 3600;
  job.suspend = false;
  job.managedBy = "kueue.x-k8s.io/multikueue";
  ir::Patch whole, node;
  whole.podMetadata = Tree::map();
  whole.podMetadata.set("labels", Tree::map()).set("team", text("x"));
  node.group = "node";
  node.jobMetadata = Tree::map();
  node.jobMetadata.set("annotations", Tree::map()).set("j", text("1"));
  node.podMetadata = Tree::map();
  node.podMetadata.set("labels", Tree::map()).set("p", text("2"));
  node.podSpec = Tree::map();
  Tree volume = Tree::map();
  volume.set("emptyDir", Tree::map()).set("medium", text("Memory"));
  volume.set("name", text("shm"));
  node.podSpec.set("volumes", Tree::list()).add(volume);
  Tree container = Tree::map(), mount = Tree::map();
  mount.set("mountPath", text("/dev/shm"));
  mount.set("name", text("shm"));
  container.set("volumeMounts", Tree::list()).add(mount);
  container.set("name", text("node"));
  node.podSpec.set("containers", Tree::list()).add(container);
  node.podSpec.set("nodeSelector", Tree::map()).set("pool", text("h100"));
  job.patches = {whole, node};
  EXPECT_EQ(written(job), R"(apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: demo
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: research
  annotations:
    note: "y"
spec:
  runtimeRef:
    name: torch-distributed
    kind: TrainingRuntime
  initializer:
    dataset:
      storageUri: hf://tatsu-lab/alpaca
      secretRef:
        name: hub
      env:
        - name: A
          value: "1"
    model:
      storageUri: s3://bucket/model
  trainer:
    image: example.com/train:1
    command:
      - torchrun
      - train.py
    args:
      - --lr=0.1
      - -De
      - "8"
    env:
      - name: EMPTY
        value: ""
      - name: HF_TOKEN
        valueFrom:
          secretKeyRef:
            name: hub
            key: token
    numNodes: 4
    numProcPerNode: 8
    resourcesPerNode:
      requests:
        cpu: 1500m
        memory: 400Gi
      limits:
        nvidia.com/gpu: "8"
  runtimePatches:
    - manager: kft.dev/kftc
      trainingRuntimeSpec:
        template:
          metadata:
            labels:
              team: x
          spec:
            replicatedJobs:
              - name: node
                template:
                  metadata:
                    annotations:
                      j: "1"
                  spec:
                    template:
                      metadata:
                        labels:
                          p: "2"
                      spec:
                        nodeSelector:
                          pool: h100
                        containers:
                          - name: node
                            volumeMounts:
                              - name: shm
                                mountPath: /dev/shm
                        volumes:
                          - name: shm
                            emptyDir:
                              medium: Memory
  activeDeadlineSeconds: 3600
  suspend: false
  managedBy: kueue.x-k8s.io/multikueue
)");
}

// A trainer that says nothing is not the same as none: only with one does the runtime's plugin set its variables.
TEST(TrainJob, SaysThatThereIsATrainer) {
  Job job = smallJob();
  job.trainer.emplace();
  EXPECT_NE(written(job).find("  trainer: {}\n"), std::string::npos);
}

TEST(TrainJob, EmptyCommandAndArgsClearTheRuntimes) {
  Job job = smallJob();
  job.command.emplace();
  job.args.emplace();
  EXPECT_NE(written(job).find("  trainer:\n    command: []\n    args: []\n"), std::string::npos);
}

TEST(TrainJob, WorkdirIsEnteredByAShellInFrontOfTheCommand) {
  Job job = smallJob();
  job.command = {"torchrun", "a b.py"};
  job.workdir = "/code dir";
  EXPECT_NE(written(job).find("    command:\n      - sh\n      - -c\n      - cd \"$0\" && exec \"$@\"\n      - /code dir\n      - torchrun\n      - a b.py\n"), std::string::npos) << written(job);
  job.command.reset();
  EXPECT_EQ(reported(job, 0), std::vector<int>{5003});
}

TEST(TrainJob, NativeJobStartsItsRanksFromTheLauncher) {
  const std::string yaml = written(nativeJob());
  EXPECT_NE(yaml.find("    command:\n      - mpirun\n      - -n\n      - \"6\"\n      - kft-rank\n      - /etc/kft/plan.json\n"), std::string::npos) << yaml;
}

TEST(TrainJob, NativeJobOnARuntimeWithACommandOfItsOwnGivesTheNumberOfRanks) {
  Job job = nativeJob();
  job.runtime.groups = {trainerGroup("node"), trainerGroup("launcher")};
  job.procsPerNode = 4;
  job.env = {EnvVar{.name = "A", .value = "1", .valueFrom = {}, .at = {}}};
  const std::string yaml = written(job);
  EXPECT_EQ(yaml.find("command"), std::string::npos);
  EXPECT_NE(yaml.find("    env:\n      - name: KFT_RANKS\n        value: \"12\"\n      - name: A\n"), std::string::npos) << yaml;
  job.env[0].name = "KFT_RANKS";
  EXPECT_NE(written(job).find("value: \"1\"\n"), std::string::npos);
}

TEST(TrainJob, NativeJobNeedsAnImage) {
  Job job = nativeJob();
  job.image.reset();
  job.dataset.emplace();
  job.dataset->source = "./a.csv";
  EXPECT_EQ(reported(job, 0), std::vector<int>{5001});
}

TEST(TrainJob, LocalSourceIsNeverDroppedInSilence) {
  Job job = smallJob();
  job.dataset.emplace();
  for (const char *source : {"./a.csv", "a.csv", "file:///a.csv"}) {
    job.dataset->source = source;
    EXPECT_EQ(reported(job, 1), std::vector<int>{5002}) << source;
  }
  job.dataset->source = "/data/a.csv"; // may be one of the image
  EXPECT_EQ(reported(job, 1), std::vector<int>());
}

TEST(TrainJob, WarnsOfRetriesAndOfDeprecatedRuntimes) {
  Job job = smallJob();
  job.retries = ir::Retries{.count = 3, .backoffMilliseconds = 0, .on = {}};
  EXPECT_EQ(reported(job, 1), std::vector<int>{5004});
  job.retries->count = 0;
  EXPECT_EQ(reported(job, 1), std::vector<int>());
  job.runtime.deprecated = true;
  EXPECT_EQ(reported(job, 1), std::vector<int>{5005});
}

} // namespace
} // namespace kft::target
