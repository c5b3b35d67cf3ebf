// What reaches a job: every field of the language, with its default, and how a job lies over its trainer.
#include "tests/unit/sema_check/reader.h"

#include "compiler/ir/lower.h"
#include "compiler/ir/print.h"

#include "gtest/gtest.h"

namespace kft::ir {
namespace {

const char *Prelude = R"(
runtime torch { installed = true policy = "torch" group node { step = "trainer" containers { node { image = "t" } } } }
runtime tune { installed = true name = "torchtune-llama3.2-1b" policy = "torch"
  group dataset_initializer { step = "dataset-initializer" containers { dataset_initializer { image = "t" volumeMounts { "/workspace" = "initializer" } } } volumes { initializer { emptyDir { } } } }
  group node { step = "trainer" containers { node { image = "t" } } } }
runtime mpi { policy { mpi { sshAuthMountPath = "/root/.ssh" } } procs_per_node = 2 nodes = 3 framework = "kft" scope = "namespace" namespace = "team" deprecated = true
  gang { volcano { networkTopology { mode = "soft" } } } labels { a = "b" } annotations { c = "d" }
  group node { labels { p = "q" } annotations { r = "s" } job { backoffLimit = 3 labels { j = "k" } } replicas = 1 groupName = "g"
    containers { node { image = "t" ports { ssh = 2222 } env { A = "1" B = secret("s", key = "k") } resources { limits { gpu = 1 memory = 2Gi } } } } hostNetwork = true }
  group launcher { step = "trainer" dependsOn { node = "Ready" } containers { node { image = "t" } } }
  template { metadata { labels { x = "y" } } network { publishNotReadyAddresses = true } } }
)";

Program lowered(const std::string &text) {
  Compilation compilation;
  sema::Reader reader(Prelude + text, compilation);
  std::vector<sema::Decl *> decls = reader.read();
  sema::check(decls, compilation);
  for (const Diagnostic &diagnostic : compilation.diags.all())
    ADD_FAILURE() << diagnostic.message << " @ " << compilation.sources.text(diagnostic.range).str();
  std::vector<const sema::Decl *> view(decls.begin(), decls.end());
  sema::Module module;
  module.decls = view;
  return lower(module, compilation);
}

Job job(const std::string &text) {
  Program program = lowered(text);
  EXPECT_EQ(program.jobs.size(), 1u);
  return program.jobs.empty() ? Job() : program.jobs[0];
}

using Texts = std::vector<std::string>;

TEST(Lower, AJobLiesOverItsTrainer) {
  const std::string trainer = R"(trainer t { image = "i" command = ["torchrun", "a.py"] args = ["--x"] workdir = "/w" env { A = "1" B = "2" C = "3" } } )";
  Job merged = job(trainer + R"(job j { runtime = runtime.torch trainer = trainer.t args += ["--y"] env { B = null C = "4" D = secret("s", key = "k") } })");
  EXPECT_EQ(merged.image, "i");
  EXPECT_EQ(merged.command, (Texts{"torchrun", "a.py"}));
  EXPECT_EQ(merged.args, (Texts{"--x", "--y"}));
  EXPECT_EQ(merged.workdir, "/w");
  ASSERT_EQ(merged.env.size(), 3u);
  EXPECT_EQ(merged.env[0].name, "A");
  EXPECT_EQ(merged.env[1].value, "4");
  EXPECT_EQ(print(merged.env[2].valueFrom), R"({"secretKeyRef": {"name": "s", "key": "k"}})");

  Job replaced = job(trainer + R"(job j { runtime = runtime.torch trainer = trainer.t image = "k" args = ["--z"] env = { Z = "1" } workdir = "/v" command = ["x"] })");
  EXPECT_EQ(replaced.image, "k");
  EXPECT_EQ(replaced.command, (Texts{"x"}));
  EXPECT_EQ(replaced.args, (Texts{"--z"}));
  EXPECT_EQ(replaced.workdir, "/v");
  ASSERT_EQ(replaced.env.size(), 1u);
}

TEST(Lower, PythonIsStartedAsTheRuntimeWants) {
  const std::string trainer = R"(trainer t { python = ["train.py", "--lr=1"] args = ["--more"] } )";
  EXPECT_EQ(job(trainer + "job j { runtime = runtime.torch trainer = trainer.t }").command, (Texts{"torchrun", "train.py", "--lr=1"}));
  EXPECT_EQ(job(trainer + "job j { runtime = runtime.mpi trainer = trainer.t }").command, (Texts{"mpirun", "python3", "train.py", "--lr=1"}));
  EXPECT_EQ(job(trainer + "job j { runtime = runtime.torch trainer = trainer.t }").args, (Texts{"--more"}));
}

TEST(Lower, ARecipeBecomesArguments) {
  Job tuned = job(R"(dataset d { source = "hf://tatsu-lab/alpaca/data" auth = secret("hub") env { E = "1" } }
    trainer t { engine = "torchtune" dtype = "bf16" batch = 4 epochs = 2 loss = "CEWithChunkedOutputLoss" lora { rank = 4 quantize = true dora = true }
      preprocess { source = "json" split = "train" train_on_input = true system_prompt = "be brief" columns { input = "q" output = "a" } } args = ["optimizer.lr=1e-4"] }
    job j { runtime = runtime.tune trainer = trainer.t dataset = dataset.d })");
  EXPECT_EQ(tuned.command, (Texts{"tune", "run"}));
  EXPECT_EQ(*tuned.args, (Texts{"dtype=bf16", "batch_size=4", "epochs=2", "loss=torchtune.modules.loss.CEWithChunkedOutputLoss",
                                "model.lora_attn_modules=[q_proj,v_proj,output_proj]", "model.apply_lora_to_mlp=True", "model.apply_lora_to_output=False",
                                "model.lora_rank=4", "model.lora_alpha=16", "model.lora_dropout=0.0", "model.quantize_base=True", "model.use_dora=True",
                                "dataset.data_dir=/workspace/dataset/data", "dataset=torchtune.datasets.instruct_dataset", "dataset.source=json", "dataset.split=train",
                                "dataset.train_on_input=True", "dataset.new_system_prompt=be brief", "dataset.column_map.input=q", "dataset.column_map.output=a",
                                "optimizer.lr=1e-4"}));
  ASSERT_TRUE(tuned.dataset->initializer);
  EXPECT_EQ(tuned.dataset->initializer->storageUri, "hf://tatsu-lab/alpaca/data");
  EXPECT_EQ(tuned.dataset->initializer->secretName, "hub");
  EXPECT_EQ(tuned.dataset->initializer->env.size(), 1u);
}

TEST(Lower, EveryFieldOfAJob) {
  Job full = job(R"(job my_job { runtime = runtime.torch nodes = 2 procs_per_node = 4 resources { cpu = 2 "amd.com/gpu" = 4 } deadline = 1h suspend = true
    managed_by = "kueue.x-k8s.io/multikueue" queue = "q" priority = "high" namespace = "team" labels { a = "b" } annotations { c = "d" } image = "i" command = ["x"]
    retries { count = 3 backoff = 5s on = [137, "rank_lost"] } patch_manager = "example.com/team"
    patch node { labels { l = "m" } job { labels { n = "o" } } nodeSelector { pool = "h100" } tolerations = [{ key = "a" operator = "Exists" }] volumes { shm { emptyDir { medium = "Memory" sizeLimit = 64Gi } } }
      containers { node { volumeMounts { "/dev/shm" = "shm" } } } }
    patch { annotations { e = "f" } } })");
  EXPECT_EQ(full.kubeName, "my-job");
  EXPECT_EQ(full.nodes, 2);
  EXPECT_EQ(full.procsPerNode, 4);
  EXPECT_EQ(full.deadlineSeconds, 3600);
  EXPECT_EQ(full.suspend, true);
  EXPECT_EQ(full.managedBy, "kueue.x-k8s.io/multikueue");
  EXPECT_EQ(full.nameSpace, "team");
  EXPECT_EQ(full.labels, (StringMap{{"a", "b"}, {"kueue.x-k8s.io/queue-name", "q"}, {"kueue.x-k8s.io/priority-class", "high"}}));
  EXPECT_EQ(full.annotations, (StringMap{{"c", "d"}}));
  EXPECT_EQ(full.resources.limits, (StringMap{{"cpu", "2"}, {"amd.com/gpu", "4"}}));
  EXPECT_EQ(full.resources.requests, full.resources.limits);
  EXPECT_EQ(full.retries->on, (Texts{"137", "rank_lost"}));
  EXPECT_EQ(full.retries->backoffMilliseconds, 5000);
  EXPECT_EQ(full.patchManager, "example.com/team");
  ASSERT_EQ(full.patches.size(), 2u);
  EXPECT_EQ(print(full.patches[0].podSpec),
            R"({"nodeSelector": {"pool": "h100"}, "tolerations": [{"key": "a", "operator": "Exists"}], "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}], "containers": [{"name": "node", "volumeMounts": [{"mountPath": "/dev/shm", "name": "shm"}]}]})");
  EXPECT_EQ(print(full.patches[0].podMetadata), R"({"labels": {"l": "m"}})");
  EXPECT_EQ(print(full.patches[0].jobMetadata), R"({"labels": {"n": "o"}})");
  EXPECT_EQ(full.patches[1].group, "");
  EXPECT_EQ(print(full.patches[1].podMetadata), R"({"annotations": {"e": "f"}})");
}

TEST(Lower, EveryFieldOfARuntime) {
  Program program = lowered("");
  ASSERT_EQ(program.runtimes.size(), 1u); // the others are installed
  const Runtime &mpi = program.runtimes[0];
  EXPECT_EQ(mpi.policy, "mpi");
  EXPECT_EQ(print(mpi.policySpec), R"({"sshAuthMountPath": "/root/.ssh", "numProcPerNode": 2})");
  EXPECT_EQ(mpi.nodes, 3);
  EXPECT_EQ(mpi.framework, "kft");
  EXPECT_FALSE(mpi.clusterScope);
  EXPECT_EQ(mpi.nameSpace, "team");
  EXPECT_TRUE(mpi.deprecated);
  EXPECT_EQ(print(mpi.gang), R"({"volcano": {"networkTopology": {"mode": "soft"}}})");
  EXPECT_EQ(mpi.labels, (StringMap{{"a", "b"}}));
  EXPECT_EQ(mpi.annotations, (StringMap{{"c", "d"}}));
  EXPECT_EQ(print(mpi.templateMetadata), R"({"labels": {"x": "y"}})");
  EXPECT_EQ(print(mpi.templateSpec), R"({"network": {"publishNotReadyAddresses": true}})");
  ASSERT_EQ(mpi.groups.size(), 2u);
  EXPECT_EQ(print(mpi.groups[0].replicatedJob), R"({"replicas": 1, "groupName": "g"})");
  EXPECT_EQ(print(mpi.groups[0].jobSpec), R"({"backoffLimit": 3})");
  EXPECT_EQ(print(mpi.groups[0].jobMetadata), R"({"labels": {"j": "k"}})");
  EXPECT_EQ(print(mpi.groups[0].podMetadata), R"({"labels": {"p": "q"}, "annotations": {"r": "s"}})");
  EXPECT_EQ(print(mpi.groups[0].podSpec),
            R"({"containers": [{"name": "node", "image": "t", "ports": [{"name": "ssh", "containerPort": 2222}], "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}], "resources": {"limits": {"nvidia.com/gpu": "1", "memory": "2Gi"}}}], "hostNetwork": true})");
  EXPECT_EQ(mpi.groups[1].step, "trainer");
  EXPECT_EQ(print(mpi.groups[1].replicatedJob), R"({"dependsOn": [{"name": "node", "status": "Ready"}]})");
}

TEST(Lower, TheNativeEngine) {
  Job native = job(R"(dataset d { source = "./a.csv" columns = ["x", "y", "z"] label = "y" scale = 2 normalize = "standard" split { test = 0.25 seed = 7 } shuffle = false seed = 5 }
    model m { input = [8, 8] dtype = "float32" init = "he" seed = 3 layers = [nn.flatten(), nn.dense(10), nn.dropout(0.5)] }
    trainer t { engine = "native" loss = "cross_entropy" optimizer = nn.adamw(0.01) schedule = nn.cosine(5) batch = 32 micro_batch = 8 epochs = 4 clip = 1 metrics = ["accuracy"]
      eval { every = 2 } early_stop { metric = "accuracy" patience = 3 } checkpoint { every = 5 } seed = 9 shard_optimizer = true precision = "float32" }
    job j { runtime = runtime.mpi trainer = trainer.t dataset = dataset.d model = model.m retries = 2 })");
  const NativeTrainer &trainer = *native.trainer->native;
  EXPECT_EQ(trainer.optimizer.name, "adamw");
  EXPECT_EQ(trainer.optimizer.arg("weight_decay")->number, 0.01);
  EXPECT_EQ(trainer.schedule.arg("warmup")->integer, 5);
  EXPECT_EQ(trainer.schedule.arg("final")->number, 0);
  EXPECT_EQ(trainer.batch, 32);
  EXPECT_EQ(trainer.microBatch, 8);
  EXPECT_EQ(trainer.clip, 1.0);
  EXPECT_EQ(trainer.evalEvery, 2);
  EXPECT_EQ(trainer.earlyStop, (EarlyStop{"accuracy", 3, 0}));
  EXPECT_EQ(trainer.checkpoint, (CheckpointPolicy{5, 2}));
  EXPECT_EQ(trainer.seed, 9u);
  EXPECT_TRUE(trainer.shardOptimizer);
  const Dataset &dataset = *native.dataset;
  EXPECT_FALSE(dataset.isRemote);
  EXPECT_EQ(dataset.format->name, "csv");
  EXPECT_FALSE(dataset.format->arg("header")->boolean);
  EXPECT_EQ(dataset.columns, (Texts{"0", "2"}));
  EXPECT_EQ(dataset.label, "1");
  EXPECT_EQ(dataset.scale, 2);
  EXPECT_EQ(dataset.normalize, "standard");
  EXPECT_EQ(dataset.testFraction, 0.25);
  EXPECT_EQ(dataset.splitSeed, 7u);
  EXPECT_FALSE(dataset.shuffle);
  EXPECT_EQ(dataset.seed, 5u);
  EXPECT_EQ(native.model->input, (std::vector<int64_t>{8, 8}));
  EXPECT_EQ(native.model->init, "he");
  ASSERT_EQ(native.model->layers.size(), 3u);
  EXPECT_EQ(native.model->layers[1].arg("units")->integer, 10);
  EXPECT_TRUE(native.model->layers[1].arg("bias")->boolean);
  EXPECT_EQ(native.retries->count, 2);
  EXPECT_EQ(native.retries->on, (Texts{"any"}));
}

TEST(Lower, DefaultsOfTheNativeEngine) {
  Job native = job(R"(dataset d { source = "./a.csv" } model m { input = [8] layers = [nn.dense(10)] }
    trainer t { engine = "native" loss = "mse" optimizer = nn.sgd(0.1) batch = 8 steps = 4 }
    job j { runtime = runtime.mpi trainer = trainer.t dataset = dataset.d model = model.m })");
  const NativeTrainer &trainer = *native.trainer->native;
  EXPECT_EQ(trainer.schedule.name, "constant");
  EXPECT_EQ(trainer.schedule.arg("warmup")->integer, 0);
  EXPECT_EQ(trainer.seed, 42u);
  EXPECT_FALSE(trainer.epochs);
  EXPECT_EQ(trainer.steps, 4);
  EXPECT_EQ(native.dataset->label, "label");
  EXPECT_TRUE(native.dataset->shuffle);
  EXPECT_EQ(native.dataset->scale, 1);
  EXPECT_FALSE(native.retries);
  EXPECT_EQ(native.patchManager, "kft.dev/kftc");
}

TEST(Lower, FieldsThatAreRarelyGiven) {
  Program program = lowered(R"(runtime plainr { policy = "plain" gang { coscheduling { scheduleTimeoutSeconds = 30 } } group node { step = "trainer" containers { node { image = "t" } } } }
    dataset d { source = "./a.tsv" features = ["x", "y"] label = "z" split { test = 0.5 } } model m { input = [2] layers = [nn.dense(1)] }
    trainer t { engine = "native" loss = "mse" optimizer = nn.sgd(0.1) batch = 8 epochs = 4 early_stop { patience = 2 min_delta = 0.5 } checkpoint { every = 1 keep = 7 } }
    job j { runtime = runtime.plainr trainer = trainer.t dataset = dataset.d model = model.m })");
  ASSERT_EQ(program.runtimes.size(), 2u);
  EXPECT_EQ(program.runtimes[1].policy, "plain");
  EXPECT_EQ(print(program.runtimes[1].gang), R"({"coscheduling": {"scheduleTimeoutSeconds": 30}})");
  const Job &job = program.jobs[0];
  EXPECT_EQ(job.dataset->columns, (Texts{"x", "y"}));
  EXPECT_EQ(job.dataset->label, "z");
  EXPECT_EQ(job.dataset->format->arg("delimiter")->text, "\t");
  EXPECT_EQ(job.trainer->native->earlyStop, (EarlyStop{"loss", 2, 0.5}));
  EXPECT_EQ(job.trainer->native->checkpoint, (CheckpointPolicy{1, 7}));
  Job tuned = ir::job(R"(dataset d { source = "hf://a/b" } trainer t { engine = "torchtune" preprocess { files = "part/rows.parquet" } }
    job j { runtime = runtime.tune trainer = trainer.t dataset = dataset.d })");
  EXPECT_EQ(*tuned.args, (Texts{"dataset.data_files=/workspace/dataset/part/rows.parquet", "dataset=torchtune.datasets.instruct_dataset", "dataset.source=parquet"}));
}

TEST(Lower, SameTextSameJobsSameText) {
  const std::string text = "job j { runtime = runtime.mpi nodes = 2 command = [\"x\"] }";
  EXPECT_EQ(job(text), job(text));
  EXPECT_EQ(print(lowered(text)), print(lowered(text)));
  EXPECT_NE(print(lowered(text)).find("nodes = 2"), std::string::npos);
}

} // namespace
} // namespace kft::ir
