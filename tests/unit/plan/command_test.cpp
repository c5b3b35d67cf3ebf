// Against the worked rules of the trainer's lowering: what the controller sets, and how many processes.
#include "compiler/plan/command.h"

#include <gtest/gtest.h>

using namespace kft;
using kft::plan::CommandPlan;
using kft::plan::describe;

namespace {

ir::Job torchJob() {
  ir::Job job;
  job.name = "finetune";
  job.kubeName = "finetune";
  job.runtime.kubeName = "torch-distributed";
  job.runtime.policy = "torch";
  job.runtime.nodes = 1;
  job.nodes = 2;
  job.command = {{"torchrun", "train.py"}};
  job.args = {{"--lr=0.1"}};
  ir::Group group;
  group.name = "node";
  group.step = "trainer";
  ir::Tree containers, container;
  containers.kind = ir::Tree::Kind::List;
  container.set("name", ir::Tree::of("node"));
  containers.add(container);
  group.podSpec.set("containers", containers);
  job.runtime.groups.push_back(group);
  return job;
}

std::string value(const CommandPlan &plan, const std::string &name) {
  for (const auto &variable : plan.env)
    if (variable.name == name) return variable.value;
  return "(none)";
}

} // namespace

TEST(CommandPlan, AutoWithoutGpuIsTheCpuAmount) {
  ir::Job job = torchJob();
  job.resources.limits = {{"cpu", "2"}};
  EXPECT_EQ(describe(job).procsPerNode, "2");
  EXPECT_EQ(describe(job).procsReason, "`auto` without a GPU is the CPU limit: the job's cpu = 2");
  job.resources.requests = {{"cpu", "1500m"}};
  EXPECT_EQ(describe(job).procsPerNode, "2"); // rounded up
  EXPECT_EQ(value(describe(job), "PET_NPROC_PER_NODE"), "2");
  job.resources = {};
  EXPECT_EQ(describe(job).procsPerNode, "1");
}

TEST(CommandPlan, AutoWithGpuStays) {
  ir::Job job = torchJob();
  job.resources.limits = {{"cpu", "32"}, {"nvidia.com/gpu", "8"}};
  const CommandPlan plan = describe(job);
  EXPECT_EQ(plan.procsPerNode, "auto");
  EXPECT_EQ(plan.processes, 16);
  // A partition of a GPU is not counted.
  job.resources.limits = {{"cpu", "4"}, {"nvidia.com/mig-1g.5gb", "1"}};
  EXPECT_EQ(describe(job).procsPerNode, "4");
}

TEST(CommandPlan, TheRuntimesResourcesCountOnlyWithoutTheJobs) {
  ir::Job job = torchJob();
  ir::Tree amounts, limits;
  limits.set("nvidia.com/gpu", ir::Tree::of("4"));
  amounts.set("limits", limits);
  job.runtime.groups[0].podSpec.find("containers")->items[0].set("resources", amounts);
  EXPECT_EQ(describe(job).procsPerNode, "auto");
  EXPECT_EQ(describe(job).processes, 8);
  job.resources.limits = {{"memory", "64Gi"}};
  EXPECT_EQ(describe(job).procsPerNode, "1");
}

TEST(CommandPlan, TorchVariablesAndTheLongCommandOfEachNode) {
  ir::Job job = torchJob();
  job.procsPerNode = 8;
  const CommandPlan plan = describe(job);
  EXPECT_EQ(value(plan, "PET_NNODES"), "2");
  EXPECT_EQ(value(plan, "PET_NPROC_PER_NODE"), "8");
  EXPECT_EQ(value(plan, "PET_MASTER_ADDR"), "finetune-node-0-0.finetune");
  EXPECT_EQ(value(plan, "PET_MASTER_PORT"), "29500");
  EXPECT_EQ(plan.perNode, std::vector<std::string>{"PET_NODE_RANK"});
  EXPECT_EQ(plan.command, (std::vector<std::string>{"torchrun", "train.py", "--lr=0.1"}));
  ASSERT_EQ(plan.longCommands.size(), 2u);
  EXPECT_EQ(plan.longCommands[1], (std::vector<std::string>{"torchrun", "--nnodes=2", "--nproc-per-node=8", "--node-rank=1", "--master-addr=finetune-node-0-0.finetune", "--master-port=29500", "train.py", "--lr=0.1"}));
}

TEST(CommandPlan, ManyNodesShowTheFirstAndTheLast) {
  ir::Job job = torchJob();
  job.nodes = 100;
  EXPECT_EQ(describe(job).longCommands.size(), 2u);
}

TEST(CommandPlan, TuneRunGetsNoAddress) {
  ir::Job job = torchJob();
  job.command = {{"tune", "run"}};
  const CommandPlan plan = describe(job);
  EXPECT_EQ(value(plan, "PET_NNODES"), "2");
  EXPECT_EQ(value(plan, "PET_MASTER_ADDR"), "(none)");
  EXPECT_TRUE(plan.longCommands.empty());
}

TEST(CommandPlan, JaxHasOneProcessANode) {
  ir::Job job = torchJob();
  job.runtime.policy = "jax";
  const CommandPlan plan = describe(job);
  EXPECT_EQ(plan.processes, 2);
  EXPECT_EQ(value(plan, "JAX_NUM_PROCESSES"), "2");
  EXPECT_EQ(value(plan, "JAX_COORDINATOR_ADDRESS"), "finetune-node-0-0.finetune:29500");
}

TEST(CommandPlan, XgboostCountsWorkersByGpu) {
  ir::Job job = torchJob();
  job.runtime.policy = "xgboost";
  job.resources.limits = {{"nvidia.com/gpu", "4"}};
  const CommandPlan plan = describe(job);
  EXPECT_EQ(value(plan, "DMLC_NUM_WORKER"), "8");
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_NE(plan.notes[0].find("DMLC_NUM_WORKER is 8, but DMLC_TASK_ID goes from 0 to 1 only"), std::string::npos);
}

TEST(CommandPlan, MpiSlotsAndHostfile) {
  ir::Job job = torchJob();
  job.runtime.policy = "mpi";
  job.runtime.policySpec.set("numProcPerNode", ir::Tree::of(1));
  job.runtime.policySpec.set("runLauncherAsNode", ir::Tree::of(true));
  job.nodes = 3;
  job.command = {{"mpirun", "-np", "2", "train"}};
  job.args.reset();
  job.resources.limits = {{"nvidia.com/gpu", "2"}};
  CommandPlan plan = describe(job);
  EXPECT_EQ(plan.procsPerNode, "2"); // 1 is raised to the GPUs
  EXPECT_EQ(plan.processes, 6);
  EXPECT_EQ(plan.hostfile, (std::vector<std::string>{"finetune-launcher-0-0.finetune slots=2", "finetune-node-0-0.finetune slots=2", "finetune-node-0-1.finetune slots=2"}));
  EXPECT_EQ(plan.notes, std::vector<std::string>{"`-np 2` uses 2 of 6 slots"});
  EXPECT_EQ(value(plan, "OMPI_MCA_orte_set_default_slots"), "2");
  // A 1 that the job itself gives stays, and is remarked on.
  job.procsPerNode = 1;
  plan = describe(job);
  EXPECT_EQ(plan.procsPerNode, "1");
  EXPECT_EQ(plan.notes[0], "1 slots a node, but 2 × nvidia.com/gpu");
}

TEST(CommandPlan, TheCommandOfTheRuntimeAndOfTheImage) {
  ir::Job job = torchJob();
  job.command.reset();
  job.args.reset();
  EXPECT_EQ(describe(job).commandFrom, "image");
  ir::Tree command;
  command.kind = ir::Tree::Kind::List;
  command.add(ir::Tree::of("serve"));
  job.runtime.groups[0].podSpec.find("containers")->items[0].set("command", command);
  EXPECT_EQ(describe(job).commandFrom, "runtime");
  EXPECT_EQ(describe(job).command, std::vector<std::string>{"serve"});
}

TEST(CommandPlan, TheJobsOwnVariablesAreTold) {
  ir::Job job = torchJob();
  ir::EnvVar literal, secret;
  literal.name = "NCCL_DEBUG";
  literal.value = "WARN";
  secret.name = "HF_TOKEN";
  ir::Tree reference;
  reference.set("name", ir::Tree::of("hub"));
  reference.set("key", ir::Tree::of("token"));
  secret.valueFrom.set("secretKeyRef", reference);
  job.env = {literal, secret};
  const CommandPlan plan = describe(job);
  EXPECT_EQ(value(plan, "NCCL_DEBUG"), "WARN");
  EXPECT_EQ(value(plan, "HF_TOKEN"), "(secret hub, key token)");
}
