// Each rule by its number and by the very characters it marks: «…» in the text. A text without marks is free of complaints.
#include "tests/unit/sema_check/reader.h"

#include "compiler/sema/schema.h"
#include "compiler/sema/type.h"

#include "gtest/gtest.h"

#include <set>

namespace kft::sema {
namespace {

// What the texts below can refer to.
const char *Prelude = R"(
runtime torch { policy = "torch" group node { step = "trainer" containers { node { image = "t" } } } }
runtime torchgpu { policy = "torch" group node { step = "trainer" containers { node { image = "t" resources { limits { gpu = 4 } } } } } }
runtime xgb { policy = "xgboost" group node { step = "trainer" containers { node { image = "t" } } } }
runtime jaxr { policy = "jax" group node { step = "trainer" containers { node { image = "t" } } } }
runtime mpi { policy { mpi { sshAuthMountPath = "/home/u/.ssh" runLauncherAsNode = true } }
  group node { containers { node { image = "t" } } }
  group launcher { step = "trainer" containers { node { image = "t" } } dependsOn { node = "Ready" } } }
runtime mpifull { policy = "mpi"
  group model_initializer { step = "model-initializer" containers { model_initializer { image = "t" volumeMounts { "/workspace" = "initializer" } } } volumes { initializer { emptyDir { } } } }
  group node { step = "trainer" containers { node { image = "t" } } } }
runtime unlabelled { policy = "torch" group node { containers { node { image = "t" } } } }
runtime fluxr { policy = "flux" group node { step = "trainer" containers { node { image = "t" } } } }
runtime full { name = "torchtune-llama3.2-1b" policy = "torch"
  group dataset_initializer { step = "dataset-initializer" containers { dataset_initializer { image = "t" volumeMounts { "/workspace" = "initializer" } } } }
  group model_initializer { step = "model-initializer" containers { model_initializer { image = "t" volumeMounts { "/workspace" = "initializer" } } } }
  group node { step = "trainer" containers { node { image = "t" resources { limits { gpu = 2 } requests { gpu = 2 } } } } dependsOn { dataset_initializer = "Complete" model_initializer = "Complete" } }
  template { volumeClaimPolicies = [{ templates = [{ metadata { name = "initializer" } spec { accessModes = ["ReadWriteOnce"] resources { requests { storage = 20Gi } } } }] }] }
}
dataset rows { source = "./rows.csv" split { test = 0.2 } }
model net { input = [64] layers = [nn.dense(10)] }
trainer native { engine = "native" loss = "cross_entropy" optimizer = nn.sgd(0.1) batch = 8 epochs = 2 }
)";

struct Case {
  const char *name;
  int id; // 0: nothing to complain about
  const char *text;
};

std::string shown(const Diagnostic &diagnostic) { return "KFT" + std::to_string(diagnostic.id) + ": " + diagnostic.message; }

class CheckTest : public testing::TestWithParam<Case> {};

TEST_P(CheckTest, OneMistakeOneMessageAtItsCharacters) {
  std::string text = Prelude;
  std::vector<std::pair<size_t, size_t>> marks;
  for (StringRef rest = GetParam().text; !rest.empty();) {
    if (rest.consume_front("«")) {
      marks.emplace_back(text.size(), 0);
    } else if (rest.consume_front("»")) {
      marks.back().second = text.size();
    } else {
      text += rest.front();
      rest = rest.drop_front();
    }
  }
  Compilation compilation;
  Reader reader(text, compilation);
  check(reader.read(), compilation);
  std::string all;
  for (const Diagnostic &diagnostic : compilation.diags.all())
    all += "\n  " + shown(diagnostic) + " @ `" + (diagnostic.range.valid() ? compilation.sources.text(diagnostic.range).str() : "") + "`";
  if (GetParam().id == 0) {
    EXPECT_EQ(all, "");
    return;
  }
  ASSERT_EQ(compilation.diags.all().size(), 1u) << all;
  const Diagnostic &found = compilation.diags.all()[0];
  EXPECT_EQ(found.id, GetParam().id) << all;
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(found.range.begin, marks[0].first) << all;
  EXPECT_EQ(found.range.end, marks[0].second) << all;
}

#define JOB(rest) "job a { runtime = runtime.torch " rest " }"
#define RES(rest) JOB("resources { " rest " }")
#define RUNTIME(rest) "runtime r { policy = \"torch\" group node { step = \"trainer\" " rest " } }"

const Case Names[] = {
    {"unknown_kind", 2201, "«jobb» a { nodes = 2 }"},
    {"reserved_kind", 2202, "«sweep» a { trials = 2 }"},
    {"unknown_field", 2203, JOB("«node» = 2")},
    {"kubernetes_spelling", 2203, JOB("«numNodes» = 2")},
    {"unknown_nested_field", 2203, JOB("retries { count = 2 «backof» = 3s }")},
    {"unknown_pod_field", 2203, RUNTIME("containers { node { image = \"t\" } } «tolerration» = []")},
    {"unknown_container_field", 2203, RUNTIME("containers { node { «imagee» = \"t\" } }")},
    {"not_patchable", 2203, JOB("patch node { «priorityClassName» = \"high\" }")},
    {"unknown_group", 2204, JOB("patch «nodes» { tolerations = [] }")},
    {"c063_container_of_patch", 2205, JOB("patch node { volumes { d { emptyDir { } } } containers { «trainer» { volumeMounts { \"/d\" = \"d\" } } } }")},
    {"unknown_volume", 2206, JOB("patch node { volumes { shm { emptyDir { } } } containers { node { volumeMounts { \"/d\" = «\"smh\"» } } } }")},
    {"c010_tpu", 2207, RES("«tpu» = 1")},
    {"unknown_layer", 2208, "model m { input = [4] layers = [«nn.no_dens(4)»] }"},
    {"unknown_dependency", 2209, "runtime r { policy = \"plain\" group a { containers { c { image = \"t\" } } } group b { containers { c { image = \"t\" } } dependsOn { «c» = \"Ready\" } } }"},
    {"volume_names_clash", 2210, JOB("patch node { volumes { a_b { emptyDir { } } «\"a-b\"» { emptyDir { } } } }")},
    {"duplicate_mount_path", 2211, JOB("patch node { volumes { a { emptyDir { } } b { emptyDir { } } } containers { node { volumeMounts = [{ name = \"a\" mountPath = \"/x\" }, { name = \"b\" mountPath = «\"/x\"» }] } } }")},
    {"duplicate_env_of_list", 2211, JOB("patch node { initContainers = [] }") " runtime q { policy = \"plain\" group g { containers { c { image = \"t\" env = [{ name = \"A\" value = \"1\" }, { name = «\"A\"» value = \"2\" }] } } } }"},
    {"unknown_argument", 2212, "model m { input = [4] layers = [«nn.dense(4, bais = true)»] }"},
    {"same_name", 2213, "job a_b { runtime = runtime.torch } job «\"a-b\"» { runtime = runtime.torch }"},
    {"runtime_block", 2214, "job a { runtime = «{ policy = \"torch\" }» }"},
    {"abstract_runtime", 2215, "@abstract runtime base { policy = \"torch\" } job a { runtime = «runtime.base» }"},
    {"c052_long_name", 3219, "job «abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrs» { runtime = runtime.torch }"},
    {"name_budget", 3220, "job «abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz» { runtime = runtime.torch }"},
    {"name_budget_many_nodes", 3220, "job «abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv» { runtime = runtime.torch nodes = 11 }"},
    {"name_that_fits", 0, "job abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv { runtime = runtime.torch nodes = 10 }"},
    {"c054_underscore_in_text", 3218, "job a { runtime = runtime.torch name = «\"my_job\"» }"},
    {"underscore_becomes_dash", 0, "job my_job { runtime = runtime.torch }"},
    {"upper_case", 3218, "job «Digits» { runtime = runtime.torch }"},
    {"starts_with_digit", 3218, "job «\"1a\"» { runtime = runtime.torch }"},
    {"c058_ends_in_dash", 3218, "job a { runtime = runtime.torch name = «\"a-\"» }"},
};

const Case Values[] = {
    {"missing_runtime", 3201, "job «a» { nodes = 2 }"},
    {"missing_kube_field", 3202, JOB("patch node { volumes { d { «persistentVolumeClaim» { readOnly = true } } } }")},
    {"policy_of_two", 3203, "runtime r { policy = «{ torch { } mpi { } }» group node { step = \"trainer\" containers { node { image = \"t\" } } } }"},
    {"gang_of_none", 3203, "runtime r { policy = \"torch\" gang = «{ }» group node { step = \"trainer\" containers { node { image = \"t\" } } } }"},
    {"unknown_policy", 3002, "runtime r { policy = «\"tourch\"» group node { step = \"trainer\" containers { node { image = \"t\" } } } }"},
    {"c032_number_in_env", 3204, JOB("env { A = «8» }")},
    {"bool_in_env", 3204, JOB("env { A = «true» }")},
    {"null_in_env", 3204, JOB("env { A = «null» }")},
    {"null_over_the_trainer", 0, "trainer t { command = [\"x\"] env { A = \"1\" } } job a { runtime = runtime.torch trainer = trainer.t env { A = null } }"},
    {"null_over_nothing", 3204, "trainer t { command = [\"x\"] env { A = \"1\" } } job a { runtime = runtime.torch trainer = trainer.t env { B = «null» } }"},
    {"env_as_kubernetes_has_it", 0, JOB("env { A = { valueFrom { fieldRef { fieldPath = \"metadata.name\" } } } }")},
    {"env_unknown_source", 2203, JOB("env { A = { valueFrom { «fieldReff» { fieldPath = \"metadata.name\" } } } }")},
    {"number_in_container_env", 3204, RUNTIME("containers { node { image = \"t\" env { A = «8» } } }")},
    {"env_name", 3205, JOB("env { «\"A=B\"» = \"x\" }")},
    {"secret_without_key", 3206, JOB("env { A = «secret(\"hub\")» }")},
    {"auth_with_key", 3207, "dataset d { source = \"hf://a/b\" auth = «secret(\"hub\", key = \"token\")» }"},
    {"auth_as_text", 3208, "dataset d { source = \"hf://a/b\" auth = «\"hub\"» }"},
    {"c003_milli_memory", 3209, RES("cpu = 300m memory = «300m»")},
    {"forgotten_suffix", 3210, RES("memory = «16»")},
    {"c008_half_a_gpu", 3211, RES("gpu = «0.5»")},
    {"half_a_gpu_of_amd", 3211, RES("\"amd.com/gpu\" = «500m»")},
    {"negative", 3212, RES("cpu = «-1»")},
    {"bytes_of_cpu", 3213, RES("cpu = «4Gi»")},
    {"c006_device_under_requests", 3214, RES("requests { cpu = 4 «gpu» = 1 }")},
    {"device_in_container_requests", 3214, RUNTIME("containers { node { image = \"t\" resources { requests { «gpu» = 1 } } } }")},
    {"devices_differ", 3215, RES("limits { gpu = 2 } requests { gpu = «1» }")},
    {"limit_below_request", 3216, RES("limits { cpu = «1» } requests { cpu = 2 }")},
    {"given_twice", 3217, RES("cpu = 2 limits { «cpu» = 4 }")},
    {"gpu_and_full_name", 3217, RES("gpu = 2 «\"nvidia.com/gpu\"» = 4")},
    {"mig", 0, RES("\"nvidia.com/mig-1g.5gb\" = 1")},
    {"label_key", 3221, JOB("labels { «\"a b\"» = \"x\" }")},
    {"label_value", 3222, JOB("labels { a = «\"x y\"» }")},
    {"c144_model_without_scheme", 3223, "model m { source = «\"org/model\"» }"},
    {"c144_dataset_without_scheme", 3223, "dataset d { source = «\"org/dataset\"» }"},
    {"scheme_alone", 3223, "dataset d { source = «\"s3://\"» }"},
    {"other_scheme", 3224, "model m { source = «\"ms://org/model\"» }"},
    {"c142_token_by_name", 3225, JOB("env { MY_TOKEN = «\"abc-def\"» }")},
    {"c142_token_by_shape", 3225, JOB("env { OTHER = «\"hf_abcdefghijkl\"» }")},
    {"token_in_args", 3225, JOB("command = [\"x\"] args = [«\"--token=hf_abcdefghijkl\"»]")},
    {"c146_keys_of_initializer", 3225, "dataset d { source = \"s3://a/b\" env { SECRET_ACCESS_KEY = «\"xyzzy\"» } }"},
    {"token_allowed", 0, JOB("env { @allow(\"literal-secret\", \"a sample\") MY_TOKEN = \"abc-def\" }")},
    {"harmless_names", 0, JOB("env { TOKENIZERS_PARALLELISM = \"false\" SSL_KEY = \"/etc/key.pem\" MAX_TOKEN = \"12\" }")},
    {"too_many_items", 3226, "runtime r { policy = \"plain\" group a { containers { c { image = \"t\" } } } group b { containers { c { image = \"t\" } } dependsOn = «[{ name = \"a\" status = \"Ready\" }, { name = \"c\" status = \"Ready\" }, { name = \"d\" status = \"Ready\" }, { name = \"e\" status = \"Ready\" }, { name = \"f\" status = \"Ready\" }, { name = \"g\" status = \"Ready\" }]» } }"},
    {"deadline_in_milliseconds", 3227, JOB("deadline = «1500ms»")},
    {"deadline_too_short", 3003, JOB("deadline = «0s»")},
    {"split_of_all", 3228, "dataset d { source = \"./a.csv\" split { test = «1» } }"},
    {"layer_as_text", 3229, "model m { input = [4] layers = [«\"dense\"»] }"},
    {"layer_without_units", 3230, "model m { input = [4] layers = [«nn.dense()»] }"},
    {"empty_layers", 3231, "model m { input = [4] layers = «[]» }"},
    {"padded_image", 3232, JOB("image = «\" a\"»")},
    {"field_path", 3233, JOB("env { A = «field(\"metadata.labels\")» }")},
    {"resource_path", 3234, JOB("env { A = «resource(\"limits.gpu\")» }")},
    {"two_sources", 3235, JOB("patch node { volumes { d { emptyDir { } «secret» { secretName = \"x\" } } } }")},
    {"empty_program", 3236, JOB("command = [«\"\"»]")},
    {"patch_manager", 3237, JOB("patch_manager = «\"kueue\"»")},
    {"toleration_without_key", 3238, JOB("patch node { tolerations = [«{ effect = \"NoSchedule\" }»] }")},
    {"toleration_value", 3239, JOB("patch node { tolerations = [{ key = \"a\" operator = \"Exists\" value = «\"b\"» }] }")},
    {"toleration_seconds", 3240, JOB("patch node { tolerations = [{ key = \"a\" «tolerationSeconds» = 3 }] }")},
    {"toleration_effect", 3002, JOB("patch node { tolerations = [{ key = \"a\" effect = «\"noSchedule\"» }] }")},
    {"ephemeral", 3242, RUNTIME("containers { node { image = \"t\" } } «ephemeralContainers» { x { image = \"t\" } }")},
    {"selector", 3241, RUNTIME("containers { node { image = \"t\" } } job { «selector» { } }")},
    {"nodes_zero", 3003, JOB("nodes = «0»")},
    {"nodes_as_text", 3001, JOB("nodes = «\"2\"»")},
    {"port_range", 3003, RUNTIME("containers { node { image = \"t\" ports { http = «70000» } } }")},
    {"pull_policy", 3002, RUNTIME("containers { node { image = \"t\" imagePullPolicy = «\"always\"» } }")},
    {"restart_policy", 3002, RUNTIME("restartPolicy = «\"Always\"» containers { node { image = \"t\" } }")},
    {"default_mode", 3003, JOB("patch node { volumes { d { secret { secretName = \"x\" defaultMode = «644» } } } }")},
    {"managed_by", 3002, JOB("managed_by = «\"acme.io/x\"»")},
    {"secret_for_image", 3005, JOB("image = «secret(\"a\", key = \"b\")»")},
};

const Case Rules[] = {
    {"native_field_of_command", 4001, "trainer t { engine = \"command\" «optimizer» = nn.sgd(0.1) }"},
    {"command_of_native", 4001, "trainer t extends trainer.native { «command» = [\"x\"] }"},
    {"native_needs_loss", 4002, "trainer «t» { engine = \"native\" optimizer = nn.sgd(0.1) batch = 8 epochs = 2 }"},
    {"epochs_and_steps", 4003, "trainer t extends trainer.native { «steps» = 9 }"},
    {"neither_epochs_nor_steps", 4003, "trainer «t» { engine = \"native\" loss = \"mse\" optimizer = nn.sgd(0.1) batch = 8 }"},
    {"command_and_python", 4004, "trainer t { command = [\"x\"] «python» = \"train.py\" }"},
    {"split_and_test", 4004, "dataset d { source = \"./a.csv\" split { test = 0.1 } «test» = \"./b.csv\" }"},
    {"procs_twice", 4004, "runtime r { policy { mpi { numProcPerNode = 2 } } «procs_per_node» = 2 group node { step = \"trainer\" containers { node { image = \"t\" } } } }"},
    {"queue_twice", 4004, JOB("queue = \"a\" labels { «\"kueue.x-k8s.io/queue-name\"» = \"b\" }")},
    {"native_job_needs_model", 4005, "job «a» { runtime = runtime.mpi trainer = trainer.native dataset = dataset.rows }"},
    {"native_needs_layers", 4006, "model p { source = \"hf://a/b\" } job a { runtime = runtime.mpifull trainer = trainer.native dataset = dataset.rows model = «model.p» } "},
    {"native_needs_mpi", 4007, "job a { runtime = «runtime.torch» trainer = trainer.native dataset = dataset.rows model = model.net }"},
    {"native_job", 0, "job a { runtime = runtime.mpi trainer = trainer.native dataset = dataset.rows model = model.net nodes = 2 }"},
    {"c023_reserved", 4008, JOB("env { «PET_NNODES» = \"2\" PET_MAX_RESTARTS = \"3\" }")},
    {"c025_reserved", 4008, "job a { runtime = runtime.xgb env { «DMLC_NUM_WORKER» = \"3\" WORLD_SIZE = \"3\" } }"},
    {"reserved_of_mpi", 4008, "trainer t { command = [\"x\"] env { «OMPI_MCA_plm_rsh_args» = \"2\" } } job a { runtime = runtime.mpi trainer = trainer.t }"},
    {"not_reserved_for_jax", 0, "job a { runtime = runtime.jaxr env { PET_NNODES = \"2\" } }"},
    {"c029_env_in_patch", 4009, JOB("patch node { containers { node { «env» { A = \"1\" } } } }")},
    {"mount_twice", 4010, JOB("patch node { volumes { a { emptyDir { } } } containers { node { volumeMounts { \"/x\" = \"a\" \"/y\" = «\"a\"» } } } }")},
    {"c037_blank", 4011, JOB("command = [«\"tune run\"»]")},
    {"c039_shell", 4012, JOB("command = [\"mpirun\", «\"${DIR}/app\"»]")},
    {"shell_in_shell", 0, JOB("command = [\"bash\", \"-c\", \"${DIR}/app\"]")},
    {"c041_args", 4013, JOB("«args» = [\"train.py\"]")},
    {"c065_ssh_path", 4014, "job a { runtime = runtime.mpi patch node { volumes { s { emptyDir { } } } containers { node { volumeMounts { «\"/home/u/.ssh\"» = \"s\" } } } } }"},
    {"c067_no_step", 4015, "job a { runtime = runtime.unlabelled «image» = \"x\" }"},
    {"c013_device_lost", 4016, "job a { runtime = runtime.torchgpu «resources» { memory = 64Gi } }"},
    {"c015_devices", 4017, "job a { runtime = runtime.mpi procs_per_node = «1» resources { gpu = 2 } }"},
    {"c017_cores", 4018, "job a { runtime = runtime.mpi procs_per_node = «4» resources { cpu = 2 } }"},
    {"c017_np", 4019, "job a { runtime = runtime.mpi nodes = 2 procs_per_node = 4 command = [\"mpirun\", \"-np\", «\"2\"», \"x\"] }"},
    {"np_that_fits", 0, "job a { runtime = runtime.mpi nodes = 2 procs_per_node = 4 command = [\"mpirun\", \"-np\", \"8\", \"x\"] }"},
    {"c103_workers", 4020, "job a { runtime = runtime.xgb nodes = 2 «resources» { gpu = 4 } }"},
    {"procs_ignored", 4021, "job a { runtime = runtime.jaxr «procs_per_node» = 2 }"},
    {"no_initializer", 4022, "dataset d { source = \"hf://a/b\" } job a { runtime = runtime.torch dataset = «dataset.d» }"},
    {"initializer", 0, "dataset d { source = \"hf://a/b\" } job a { runtime = runtime.full dataset = dataset.d }"},
    {"not_mounted", 4023, "runtime r { policy = \"torch\" group dataset_initializer { step = \"dataset-initializer\" containers { dataset_initializer { image = \"t\" } } } group node { step = \"trainer\" containers { node { image = \"t\" } } } } dataset d { source = \"hf://a/b\" } job a { runtime = runtime.r dataset = «dataset.d» }"},
    {"c061_volume", 4024, "runtime r { policy = \"torch\" group dataset_initializer { step = \"dataset-initializer\" volumes { data { emptyDir { } } } containers { dataset_initializer { image = \"t\" volumeMounts { \"/workspace\" = «\"data\"» } } } } }"},
    {"c059_container", 4025, RUNTIME("«containers» { trainer { image = \"t\" } }")},
    {"replicas", 4026, RUNTIME("replicas = «2» containers { node { image = \"t\" } }")},
    {"step_twice", 4027, "runtime r { policy = \"torch\" group a { step = \"trainer\" containers { node { image = \"t\" } } } group b { step = «\"trainer\"» containers { node { image = \"t\" } } } }"},
    {"first_depends", 4028, RUNTIME("containers { node { image = \"t\" } } «dependsOn» { x = \"Ready\" }")},
    {"order_and_depends", 4029, "runtime r { policy = \"plain\" template { startupPolicy { startupPolicyOrder = \"InOrder\" } } group a { containers { c { image = \"t\" } } } group b { containers { c { image = \"t\" } } «dependsOn» { a = \"Ready\" } } }"},
    {"no_groups", 4030, "runtime «r» { policy = \"torch\" }"},
    {"no_containers", 4031, "runtime r { policy = \"torch\" group «node» { step = \"trainer\" } }"},
    {"group_without_name", 4032, "runtime r { policy = \"torch\" «group» { containers { node { image = \"t\" } } } }"},
    {"no_image", 4033, "runtime r { policy = \"plain\" group a { containers { «c» { command = [\"x\"] } } } }"},
    {"c129_failure_policy", 4034, RUNTIME("restartPolicy = \"OnFailure\" job { «podFailurePolicy» { rules = [{ action = \"FailJob\" onExitCodes { operator = \"In\" values = [42] } }] } } containers { node { image = \"t\" } }")},
    {"procs_of_torch", 4035, "runtime r { policy = \"torch\" «procs_per_node» = 2 group node { step = \"trainer\" containers { node { image = \"t\" } } } }"},
    {"namespace", 4036, "runtime r { policy = \"torch\" «namespace» = \"x\" group node { step = \"trainer\" containers { node { image = \"t\" } } } }"},
    {"patch_without_group", 4037, JOB("patch { «tolerations» = [] }")},
    {"layers_without_input", 4038, "model m { «layers» = [nn.dense(4)] }"},
    {"empty_model", 4039, "model «m» { seed = 3 }"},
    {"accuracy_of_mse", 4040, "trainer t { engine = \"native\" loss = \"mse\" optimizer = nn.sgd(0.1) batch = 8 epochs = 2 metrics = [«\"accuracy\"»] }"},
    {"micro_batch", 4041, "trainer t extends trainer.native { micro_batch = «9» }"},
    {"stop_metric", 4042, "trainer t extends trainer.native { early_stop { metric = «\"accuracy\"» patience = 2 } }"},
    {"no_test_rows", 4043, "dataset d { source = \"./a.csv\" } trainer t extends trainer.native { «eval» { every = 2 } } job a { runtime = runtime.mpi trainer = trainer.t dataset = dataset.d model = model.net }"},
    {"label_is_feature", 4044, "dataset d { source = \"./a.csv\" label = \"y\" features = [\"x\", «\"y\"»] }"},
    {"layers_unused", 4045, "trainer t { command = [\"x\"] } job a { runtime = runtime.torch trainer = trainer.t model = «model.net» }"},
    {"torchtune_needs_torch", 4046, "trainer t { engine = \"torchtune\" } job a { runtime = «runtime.mpi» trainer = trainer.t }"},
    {"torchtune_model", 4047, "trainer t { engine = \"torchtune\" } job a { runtime = «runtime.torch» trainer = trainer.t }"},
    {"torchtune_nodes", 4048, "trainer t { engine = \"torchtune\" } job a { runtime = runtime.full trainer = trainer.t nodes = «2» }"},
    {"torchtune_qlora", 4049, "trainer t { engine = \"torchtune\" lora { quantize = «true» } } job a { runtime = runtime.full trainer = trainer.t }"},
    {"torchtune_qlora_single", 0, "trainer t { engine = \"torchtune\" lora { quantize = true } } job a { runtime = runtime.full trainer = trainer.t procs_per_node = 1 resources { gpu = 1 } }"},
    {"torchtune_arg", 4050, "trainer t { engine = \"torchtune\" args = [«\"output_dir=/x\"»] } job a { runtime = runtime.full trainer = trainer.t }"},
    {"flux_nodes", 4051, "job a { runtime = «runtime.fluxr» }"},
};

std::string nameOf(const testing::TestParamInfo<Case> &info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Names, CheckTest, testing::ValuesIn(Names), nameOf);
INSTANTIATE_TEST_SUITE_P(Values, CheckTest, testing::ValuesIn(Values), nameOf);
INSTANTIATE_TEST_SUITE_P(Rules, CheckTest, testing::ValuesIn(Rules), nameOf);

TEST(CheckRules, EveryRowOfOursIsTested) {
  std::set<int> tested = {3229};
  for (ArrayRef<Case> cases : {ArrayRef<Case>(Names), ArrayRef<Case>(Values), ArrayRef<Case>(Rules)})
    for (const Case &each : cases)
      tested.insert(each.id);
#define KFT_ARG(type, name)
#define KFT_ROW(number)                                                                                                \
  if ((number >= 2200 && number < 2300) || (number >= 3200 && number < 3400) || (number >= 4000 && number < 5000)) {     \
    EXPECT_TRUE(tested.count(number)) << #number;                                                                     \
  }
#define KFT_ERROR(number, Name, text, args) KFT_ROW(number)
#define KFT_WARNING(number, Name, text, args) KFT_ROW(number)
#define KFT_NOTE(Name, text, args)
#define KFT_RETIRED(number, reason)
#include "compiler/basic/diagnostics.def"
}

TEST(CheckRules, TheValueOfACredentialIsNeverShown) {
  Compilation compilation;
  Reader reader("trainer t { command = [\"x\"] env { A = \"hf_abcdefghijklmn\" MY_PASSWORD = \"hunter2xyz\" } }", compilation);
  check(reader.read(), compilation);
  EXPECT_EQ(compilation.diags.all().size(), 2u);
  for (const Diagnostic &diagnostic : compilation.diags.all()) {
    std::string text = diagnostic.message;
    for (const Note &note : diagnostic.notes) text += note.message;
    for (const Fix &fix : diagnostic.fixes) text += fix.text + fix.message;
    EXPECT_EQ(text.find("hf_abc"), std::string::npos);
    EXPECT_EQ(text.find("hunter2"), std::string::npos);
    EXPECT_NE(text.find("secret("), std::string::npos);
  }
}

TEST(CheckRules, AMistakeThatIsInheritedIsToldOnce) {
  Compilation compilation;
  Reader reader("trainer a { env { N = 8 } } trainer b extends trainer.a { image = \"x\" } trainer c extends trainer.b { image = \"y\" }", compilation);
  check(reader.read(), compilation);
  EXPECT_EQ(compilation.diags.all().size(), 1u);
}

TEST(CheckRules, AnAbstractDeclarationMayBeIncomplete) {
  Compilation compilation;
  Reader reader("@abstract trainer t { engine = \"native\" } @abstract job j { nodes = 2 }", compilation);
  check(reader.read(), compilation);
  EXPECT_TRUE(compilation.diags.all().empty());
}

TEST(CheckRules, ResourcesBecomeLimitsAndRequests) {
  Compilation compilation;
  Reader reader(std::string(Prelude) + RES("cpu = 2 gpu = 8 requests { memory = 1Gi }"), compilation);
  auto decls = reader.read();
  check(decls, compilation);
  ASSERT_TRUE(compilation.diags.all().empty());
  const BlockValue &resources = decls.back()->body.asBlock().find("resources")->value.asBlock();
  const BlockValue &limits = resources.find("limits")->value.asBlock(), &requests = resources.find("requests")->value.asBlock();
  ASSERT_EQ(limits.entries.size(), 2u);
  EXPECT_EQ(limits.entries[1].key, "nvidia.com/gpu");
  EXPECT_EQ(limits.entries[1].value.asAmount().str(), "8");
  ASSERT_EQ(requests.entries.size(), 3u);
  EXPECT_EQ(requests.entries[2].key, "memory");
}

// The way out, as people see it: a field of another tool, a block that is a number, text where a call is wanted.
TEST(CheckRules, WaysOut) {
  struct Way {
    const char *source, *way;
  };
  for (const Way &each : std::initializer_list<Way>{
           {"dataset d { source = \"./a.csv\" split = 0.2 }", "`split { test = … }`"},
           {"dataset d { source = \"./a.csv\" format = \"csv\" }", "`datasets.csv()`"},
           {"dataset d { source = \"./a.csv\" env = [1] }", "`env { NAME = \"value\" }`"},
           {"model m { input = [4] layers = [\"relu\"] }", "a layer such as `nn.relu()`"},
           {"trainer t { engine = \"native\" optimizer = \"AdamW\" }", "an optimizer such as `nn.adamw(lr = 0.1)`"},
           {"trainer t { engine = \"native\" lr = 0.1 }", "write `optimizer = nn.adam(lr = …)`"},
           {"job j { gpus = 4 }", "write `resources { gpu = … }`"},
           {"job j { num_nodes = 4 }", "did you mean `nodes`?"},
           {"runtime r { policy { torch { numProcPerNode = 4 } } }", "write `job name { procs_per_node = … }`"},
           {"job j { dataset = \"hf://a/b\" }", "write `{ source = \"hf://a/b\" }`"},
           {"runtime r { policy = \"torch\" group node { step = \"trainer\" containers { node { image = \"t\" } } } }\njob j { runtime = runtime.r patch node { containers { node { image = \"u\" } } } }",
            "it is a field of the job: `image = …`"},
           {"runtime r { policy = \"torch\" group node { step = \"trainer\" containers { node { image = \"t\" } } } }\njob j { runtime = runtime.r patch node { hostNetwork = true } }",
            "a TrainJob cannot change it"},
           {"job j { dataset = \"digits\" }", "`dataset.name`"},
       }) {
    Compilation compilation;
    Reader reader(each.source, compilation);
    check(reader.read(), compilation);
    std::string text;
    for (const Diagnostic &item : compilation.diags.all()) {
      text += item.message + "\n";
      for (const Note &note : item.notes) text += note.message + "\n";
      for (const Fix &fix : item.fixes) text += fix.message + "\n";
    }
    EXPECT_NE(text.find(each.way), std::string::npos) << each.source << "\n" << text;
  }
}

TEST(Schema, NearMisses) {
  EXPECT_EQ(nearestName("numnodes", {"nodes", "num_nodes", "name"}), "num_nodes");
  EXPECT_EQ(nearestName("tolerration", {"tolerations", "volumes"}), "tolerations");
  EXPECT_EQ(nearestName("xyzzy", {"nodes", "name"}), "");
  EXPECT_EQ(nearestName("nmae", {"nodes", "name"}), "name");
}

TEST(Schema, EveryTypeIsReadable) {
  std::set<std::string> nested;
  for (const schema::Block &block : schema::blocks()) {
    EXPECT_FALSE(block.help.empty());
    for (const schema::Field &field : block.fields) {
      EXPECT_FALSE(field.help.empty()) << block.name.str() << '.' << field.name.str();
      for (StringRef head : {"block", "one_of", "named"})
        if (StringRef name = schema::argument(field.type, head); !name.empty()) {
          EXPECT_NE(schema::find(name), nullptr) << name.str();
        }
      for (StringRef head : {"ref", "decl"})
        if (StringRef name = schema::argument(field.type, head); !name.empty() && !name.contains('>')) {
          ASSERT_NE(schema::find(name), nullptr) << name.str();
          EXPECT_TRUE(schema::find(name)->isKind) << name.str();
        }
    }
  }
  EXPECT_TRUE(schema::isKindName("job"));
  EXPECT_TRUE(schema::isKindName("sweep"));
  EXPECT_FALSE(schema::isKindName("resources"));
  EXPECT_EQ(schema::find("sweep"), nullptr);
}

} // namespace
} // namespace kft::sema
