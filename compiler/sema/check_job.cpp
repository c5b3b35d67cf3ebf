// Jobs: what must be there for the engine at hand, how a job fits its runtime, and what would silently do nothing.
#include "compiler/sema/check_rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace kft::sema {
namespace {

// Names that the controller sets itself, by policy; a job that sets them is refused.
struct Reserved {
  StringRef policy, rule, names;
};
constexpr Reserved ReservedNames[] = {
    {"torch", "V145", "PET_NNODES|PET_NPROC_PER_NODE|PET_NODE_RANK|PET_MASTER_ADDR|PET_MASTER_PORT"},
    {"xgboost", "V153", "DMLC_TRACKER_URI|DMLC_TRACKER_PORT|DMLC_TASK_ID|DMLC_NUM_WORKER"},
    {"mpi", "V155", "OMPI_MCA_orte_default_hostfile|OMPI_MCA_plm_rsh_args|OMPI_MCA_orte_keep_fqdn_hostnames|OMPI_MCA_orte_set_default_slots"},
};

const Entry *groupOf(const BlockValue &runtime, StringRef name) {
  for (const Entry &entry : runtime.entries)
    if (entry.key == "group" && entry.name == name && entry.value.is(ValueKind::Block)) return &entry;
  return nullptr;
}

const Entry *trainerGroup(const BlockValue &runtime) {
  for (const Entry &entry : runtime.entries)
    if (entry.key == "group" && entry.value.is(ValueKind::Block) && textOf(entry.value.asBlock(), "step") == "trainer") return &entry;
  return nullptr;
}

const BlockValue *containerOf(const BlockValue &group, StringRef list, StringRef name) {
  for (const Item &item : listAt(group, list))
    if (item.value.is(ValueKind::Block) && textOf(item.value.asBlock(), "name") == name) return &item.value.asBlock();
  return nullptr;
}

int64_t intOf(const BlockValue &block, StringRef key, int64_t otherwise) {
  const Entry *entry = block.find(key);
  return entry && entry->value.is(ValueKind::Int) ? entry->value.asInt() : otherwise;
}

const Amount *amountOf(const BlockValue *resources, StringRef name) {
  if (!resources) return nullptr;
  for (StringRef side : {"limits", "requests"})
    if (const BlockValue *map = blockAt(*resources, side))
      for (const Entry &entry : map->entries)
        if (entry.key == name && entry.value.is(ValueKind::Amount)) return &entry.value.asAmount();
  return nullptr;
}

bool isGpu(StringRef name) { return name.contains("gpu") || name.startswith("nvidia.com/mig-"); }

int64_t gpus(const BlockValue *resources) {
  if (!resources) return 0;
  int64_t count = 0;
  if (const BlockValue *limits = blockAt(*resources, "limits"))
    for (const Entry &entry : limits->entries)
      if (isGpu(entry.key) && entry.value.is(ValueKind::Amount)) count += entry.value.asAmount().ceil();
  return count;
}

} // namespace

void Checker::jobRules(const BlockValue &body, SourceRange at) {
  const Entry *runtimeEntry = body.find("runtime");
  if (!runtimeEntry || !runtimeEntry->value.is(ValueKind::Ref) || !runtimeEntry->value.asRef().body.is(ValueKind::Block)) return;
  const Decl &runtimeDecl = runtimeEntry->value.asRef();
  const BlockValue &runtime = runtimeDecl.body.asBlock();
  const StringRef policy = memberOf(runtime, "policy");
  const BlockValue *trainer = resolve(body, "trainer", "trainer");
  const BlockValue *dataset = resolve(body, "dataset", "dataset");
  const BlockValue *model = resolve(body, "model", "model");
  const StringRef engine = trainer && !textOf(*trainer, "engine").empty() ? textOf(*trainer, "engine") : StringRef("command");

  for (StringRef field : {"namespace"})
    if (const Entry *entry = body.find(field)) dnsLabel(entry->value.asString(), entry->range, field);
  if (const Entry *deadline = body.find("deadline"); deadline && deadline->value.asMilliseconds() % 1000 != 0)
    error(deadline->range, diag::WholeSeconds{.what = "`deadline`", .value = durationText(deadline->value.asMilliseconds())});
  for (auto [field, label] : {std::pair<StringRef, StringRef>{"queue", "kueue.x-k8s.io/queue-name"}, {"priority", "kueue.x-k8s.io/priority-class"}}) {
    const Entry *entry = body.find(field);
    if (!entry) continue;
    labelValue(entry->value.asString(), entry->range, "`" + field.str() + "`");
    if (entry->value.asString().empty()) error(entry->range, diag::EmptyList{.what = "`" + field.str() + "`"});
    if (const BlockValue *labels = blockAt(body, "labels"))
      if (const Entry *same = labels->find(label)) error(same->keyRange, diag::BothGiven{.first = label, .second = field});
  }
  if (const Entry *image = body.find("image"); image && (image->value.asString().empty() || image->value.asString() != image->value.asString().trim()))
    error(image->range, diag::PaddedImage{});
  commandRules(body);

  if (engine == "native") {
    for (StringRef needed : {"dataset", "model"})
      if (!body.find(needed)) error(at, diag::NativeJobNeeds{.field = needed});
    if (model && !model->find("layers") && model->find("source")) error(body.find("model")->range, diag::NativeNeedsLayers{});
    for (StringRef field : {"command", "args", "workdir"})
      if (const Entry *entry = body.find(field)) error(entry->keyRange, diag::EngineField{.field = field, .owner = "`command`", .engine = "native"});
    if (policy != "mpi" && policy != "plain") error(runtimeEntry->range, diag::NativeNeedsMpi{.policy = policy});
    if (dataset && !dataset->find("split") && !dataset->find("test"))
      for (StringRef field : {"early_stop", "eval"})
        if (const Entry *entry = trainer->find(field)) error(entry->keyRange, diag::NeedsTestRows{.field = field});
  } else if (trainer && model && model->find("layers") && !model->find("source")) {
    warn(body.find("model")->range, diag::LayersWithoutEngine{.engine = engine});
  }
  if (engine == "torchtune") {
    for (StringRef field : {"command", "workdir"})
      if (const Entry *entry = body.find(field)) error(entry->keyRange, diag::EngineField{.field = field, .owner = "`command`", .engine = "torchtune"});
    if (policy != "torch") error(runtimeEntry->range, diag::TorchtuneNeedsTorch{.policy = policy});
  }

  if (const BlockValue *env = blockAt(body, "env")) {
    const BlockValue *below = trainer && body.find("env")->how != Entry::How::Set ? blockAt(*trainer, "env") : nullptr;
    for (const Entry &entry : env->entries)
      if (entry.value.isNull() && !(below && below->find(entry.key))) envValue(entry);
  }

  // Names that the runtime sets, at the entry that sets them as well.
  for (const Reserved &reserved : ReservedNames) {
    if (reserved.policy != policy) continue;
    llvm::SmallVector<StringRef, 8> taken;
    reserved.names.split(taken, '|');
    for (const BlockValue *owner : {&body, trainer}) {
      const BlockValue *env = owner ? blockAt(*owner, "env") : nullptr;
      if (!env) continue;
      for (const Entry &entry : env->entries) {
        if (!llvm::is_contained(taken, entry.key)) continue;
        failed_ = true;
        if (once<diag::ReservedEnv>(entry.keyRange)) {
          auto report = diags_.report(entry.keyRange, diag::ReservedEnv{.name = entry.key, .runtime = runtimeDecl.name});
          report.rule(reserved.rule);
          if (entry.key == "PET_NNODES") report.note(diag::UseField{.field = "nodes"});
          else if (entry.key == "PET_NPROC_PER_NODE") report.note(diag::UseField{.field = "procs_per_node"});
          else report.note(diag::ReservedNamesAre{.names = listing(taken)});
        }
      }
    }
  }

  initializerRules(body, runtime, runtimeDecl.name, policy);
  const Entry *group = trainerGroup(runtime);
  if (!group) {
    for (StringRef field : {"image", "command", "args", "env", "resources", "workdir"})
      for (const BlockValue *owner : {&body, trainer}) {
        const Entry *entry = owner ? owner->find(field) : nullptr;
        if (entry) {
          warn(entry->keyRange, diag::OverrideIgnored{.field = field, .runtime = runtimeDecl.name});
          break;
        }
      }
  } else {
    countRules(body, runtime, policy);
    // C041: the image has no entry point that anybody promised.
    const BlockValue *main = containerOf(group->value.asBlock(), "containers", "node");
    const Entry *args = body.find("args") ? body.find("args") : trainer ? trainer->find("args") : nullptr;
    const bool hasCommand = body.find("command") || (trainer && (trainer->find("command") || trainer->find("python"))) || (main && main->find("command"));
    if (policy == "torch" && engine == "command" && args && !listAt(body.find("args") ? body : *trainer, "args").empty() && !hasCommand && once<diag::ArgsWithoutCommand>(args->keyRange))
      diags_.report(args->keyRange, diag::ArgsWithoutCommand{}).note(diag::WriteSo{.text = "command = [\"torchrun\"]"});
  }
  if (const Entry *manager = body.find("patch_manager")) {
    auto [domain, path] = manager->value.asString().split('/');
    const bool good = !path.empty() && !domain.empty() && manager->value.asString().size() <= 253 &&
                      llvm::all_of(path, [](char c) { return llvm::isAlnum(c) || StringRef("/-._~%!$&'()*+,;=:").contains(c); });
    if (!good) error(manager->range, diag::BadPatchManager{.value = manager->value.asString()});
    else dnsSubdomain(domain, manager->range, "patch manager");
  }
  patchRules(body, runtime, runtimeDecl.name);
  torchtuneRules(body, trainer, runtimeDecl);
}

void Checker::initializerRules(const BlockValue &job, const BlockValue &runtime, StringRef runtimeName, StringRef policy) {
  (void)policy;
  for (StringRef field : {"dataset", "model"}) {
    const Entry *entry = job.find(field);
    const BlockValue *part = resolve(job, field, field);
    if (!entry || !part) continue;
    const StringRef source = textOf(*part, "source");
    const auto [scheme, rest] = source.split("://");
    if (rest.empty() || scheme == "file") continue;
    if (scheme == "gs" || scheme == "http" || scheme == "https" || (scheme == "cache" && field == "model"))
      warn(part->find("source")->range, diag::UnknownScheme{.scheme = scheme, .known = field == "model" ? "`hf://`, `s3://`" : "`hf://`, `s3://`, `cache://`"});
    // The runtime fetches it in a group of its own; the controller finds it by name.
    const std::string step = field.str() + "-initializer";
    const Entry *group = groupOf(runtime, step);
    const BlockValue *container = group ? containerOf(group->value.asBlock(), "containers", step) : nullptr;
    if (!group || (!container && !containerOf(group->value.asBlock(), "initContainers", step))) {
      failed_ = true;
      if (once<diag::MissingInitializer>(entry->range))
        diags_.report(entry->range, diag::MissingInitializer{.field = field, .runtime = runtimeName, .step = step}).note(diag::AddInitializer{.step = step}).rule(group ? "V163" : "V162");
      continue;
    }
    const bool mounted = container && llvm::any_of(listAt(*container, "volumeMounts"), [](const Item &mount) {
      return mount.value.is(ValueKind::Block) && textOf(mount.value.asBlock(), "name") == "initializer";
    });
    if (!mounted) {
      failed_ = true;
      if (once<diag::InitializerNotMounted>(entry->range)) diags_.report(entry->range, diag::InitializerNotMounted{.runtime = runtimeName, .step = step}).rule("V164");
    }
  }
}

// How many processes, nodes and devices, and whether these agree.
void Checker::countRules(const BlockValue &job, const BlockValue &runtime, StringRef policy) {
  const Entry *procsEntry = job.find("procs_per_node");
  const BlockValue *given = blockAt(job, "resources");
  const Entry *group = trainerGroup(runtime);
  const BlockValue *main = containerOf(group->value.asBlock(), "containers", "node");
  const BlockValue *offered = main ? blockAt(*main, "resources") : nullptr;
  const BlockValue *effective = given ? given : offered;
  const int64_t nodes = intOf(job, "nodes", intOf(runtime, "nodes", 1));

  if (procsEntry && (policy == "jax" || policy == "xgboost" || policy == "plain")) warn(procsEntry->keyRange, diag::ProcsIgnored{.policy = policy});
  if (policy == "flux" && !job.find("nodes")) {
    const Entry *runtimeEntry = job.find("runtime");
    error(runtimeEntry->range, diag::FluxNeedsNodes{});
  }
  // C013: an override of one side takes the runtime's devices away from how processes are counted.
  if (given && offered)
    if (const BlockValue *limits = blockAt(*offered, "limits"))
      for (const Entry &entry : limits->entries)
        if (isDevice(entry.key) && !amountOf(given, entry.key) && entry.value.is(ValueKind::Amount)) {
          const Entry *place = job.find("resources");
          if (once<diag::DeviceLost>(place->keyRange)) {
            const std::string count = entry.value.asAmount().str();
            const std::string text = (entry.key == "nvidia.com/gpu" ? std::string("gpu") : "\"" + entry.key.str() + "\"") + " = " + count;
            diags_.report(place->keyRange, diag::DeviceLost{.device = entry.key, .count = count}).note(diag::WriteSo{.text = text});
          }
        }
  const int64_t devices = gpus(effective);
  if (procsEntry && devices > 0 && (policy == "torch" || policy == "mpi") && procsEntry->value.asInt() != devices)
    warn(procsEntry->range, diag::RanksDevices{.procs = std::to_string(procsEntry->value.asInt()), .devices = std::to_string(devices)});
  if (procsEntry && devices == 0)
    if (const Amount *cpu = amountOf(effective, "cpu"); cpu && (policy == "torch" || policy == "mpi") && procsEntry->value.asInt() > std::max<int64_t>(1, cpu->ceil()))
      warn(procsEntry->range, diag::RanksCpus{.procs = std::to_string(procsEntry->value.asInt()), .cpus = cpu->str()});
  if (policy == "xgboost" && devices > 0) {
    const Entry *place = job.find("resources") ? job.find("resources") : job.find("runtime");
    warn(place->keyRange, diag::WorkerCounts{.workers = std::to_string(nodes * devices), .nodes = std::to_string(nodes), .devices = std::to_string(devices)});
  }
  // C017: mpirun places one rank a slot, and waits for ever for slots that are not there.
  if (policy == "mpi") {
    const BlockValue *trainer = resolve(job, "trainer", "trainer");
    const BlockValue *policyBlock = blockAt(runtime, "policy");
    const BlockValue *mpi = policyBlock ? blockAt(*policyBlock, "mpi") : nullptr;
    const int64_t procs = procsEntry ? procsEntry->value.asInt() : intOf(runtime, "procs_per_node", mpi ? intOf(*mpi, "numProcPerNode", 1) : 1);
    const int64_t slots = nodes * (procs == 1 && devices > 0 && !procsEntry ? devices : procs);
    const BlockValue *owner = job.find("command") ? &job : trainer && trainer->find("command") ? trainer : nullptr;
    llvm::SmallVector<Item, 16> words;
    if (owner) words.append(listAt(*owner, "command").begin(), listAt(*owner, "command").end());
    const BlockValue *argsOwner = job.find("args") ? &job : trainer;
    if (argsOwner) words.append(listAt(*argsOwner, "args").begin(), listAt(*argsOwner, "args").end());
    if (!words.empty() && (words[0].value.asString().endswith("mpirun") || words[0].value.asString().endswith("mpiexec")))
      for (size_t i = 1; i + 1 < words.size(); ++i) {
        const StringRef word = words[i].value.asString();
        int64_t count;
        if ((word != "-np" && word != "-n" && word != "--np" && word != "-c") || words[i + 1].value.asString().getAsInteger(10, count)) continue;
        if (count != slots) warn(words[i + 1].range, diag::RanksSlots{.ranks = std::to_string(count), .slots = std::to_string(slots), .nodes = std::to_string(nodes)});
        break;
      }
  }
}

void Checker::patchRules(const BlockValue &job, const BlockValue &runtime, StringRef runtimeName) {
  llvm::SmallVector<StringRef, 4> groups;
  for (const Entry &entry : runtime.entries)
    if (entry.key == "group") groups.push_back(entry.name);
  for (const Entry &entry : job.entries) {
    if (entry.key != "patch" || !entry.value.is(ValueKind::Block)) continue;
    const BlockValue &patch = entry.value.asBlock();
    if (entry.name.empty()) {
      for (const Entry &member : patch.entries)
        if (member.key != "labels" && member.key != "annotations") error(member.keyRange, diag::PatchWithoutGroup{.field = member.key});
      continue;
    }
    const Entry *group = groupOf(runtime, entry.name);
    if (!group) {
      failed_ = true;
      if (once<diag::UnknownGroup>(entry.nameRange)) {
        const std::string others = listing(groups);
        auto report = diags_.report(entry.nameRange, diag::UnknownGroup{.group = entry.name, .runtime = runtimeName, .groups = others});
        report.rule("V166");
        StringRef near = nearestName(entry.name, groups);
        if (!near.empty()) report.fixit(entry.nameRange, near.contains('-') ? "\"" + near.str() + "\"" : near.str(), diag::DidYouMean{.name = near});
      }
      continue;
    }
    const BlockValue &pod = group->value.asBlock();
    llvm::SmallVector<StringRef, 8> volumes;
    for (const BlockValue *owner : {&pod, &patch})
      for (const Item &volume : listAt(*owner, "volumes"))
        volumes.push_back(textOf(volume.value.asBlock(), "name"));
    if (const BlockValue *jobSet = blockAt(runtime, "template"))
      for (const Item &claims : listAt(*jobSet, "volumeClaimPolicies"))
        for (const Item &claim : listAt(claims.value.asBlock(), "templates"))
          if (const BlockValue *metadata = blockAt(claim.value.asBlock(), "metadata")) volumes.push_back(textOf(*metadata, "name"));
    llvm::SmallVector<StringRef, 4> known;
    for (StringRef list : {"containers", "initContainers"})
      for (const Item &container : listAt(pod, list))
        known.push_back(textOf(container.value.asBlock(), "name"));
    for (StringRef list : {"containers", "initContainers"})
      for (const Item &item : listAt(patch, list)) {
        const BlockValue &container = item.value.asBlock();
        const Entry *name = container.find("name");
        if (!name) continue;
        const StringRef written = name->value.asString();
        if (!llvm::is_contained(known, written)) {
          failed_ = true;
          if (once<diag::UnknownContainer>(name->range)) {
            const std::string others = listing(known);
            auto report = diags_.report(name->range, diag::UnknownContainer{.container = written, .group = entry.name, .containers = others});
            report.rule(list == "containers" ? "V168" : "V167");
            StringRef near = known.size() == 1 ? known[0] : nearestName(written, known);
            if (!near.empty()) report.fixit(name->range, near.contains('-') || compilation_.sources.text(name->range).startswith("\"") ? "\"" + near.str() + "\"" : near.str(), diag::DidYouMean{.name = near});
          }
          continue;
        }
        if (const Entry *env = container.find("env"); env && list == "containers" && (written == "node" || written == "dataset-initializer" || written == "model-initializer")) {
          failed_ = true;
          if (once<diag::EnvInPatch>(env->keyRange)) {
            const StringRef place = written == "node" ? "env` of the job or its trainer" : written == "dataset-initializer" ? "env` of the dataset" : "env` of the model";
            diags_.report(env->keyRange, diag::EnvInPatch{.container = written, .place = place}).rule("V169");
          }
        }
        for (const Item &mount : listAt(container, "volumeMounts")) {
          const Entry *volume = mount.value.asBlock().find("name"), *path = mount.value.asBlock().find("mountPath");
          if (volume && !llvm::is_contained(volumes, volume->value.asString())) {
            failed_ = true;
            if (once<diag::UnknownVolume>(volume->range)) {
              auto report = diags_.report(volume->range, diag::UnknownVolume{.volume = volume->value.asString(), .group = entry.name});
              report.rule("K004");
              StringRef near = nearestName(volume->value.asString(), volumes);
              if (!near.empty()) report.note(diag::DidYouMean{.name = near});
            }
          }
          if (!path) continue;
          const StringRef at = path->value.asString();
          const BlockValue *policyBlock = blockAt(runtime, "policy");
          const BlockValue *mpi = policyBlock ? blockAt(*policyBlock, "mpi") : nullptr;
          StringRef ssh = mpi ? textOf(*mpi, "sshAuthMountPath") : StringRef();
          if (mpi && ssh.empty()) ssh = "/root/.ssh";
          StringRef owner;
          if (at == "/var/run/secrets/kubeflow/trainer") owner = "the status report of a job";
          else if (mpi && (at == ssh || at == "/etc/mpi")) owner = "the MPI host file and keys";
          else if (at == "/workspace" && groupOf(runtime, "dataset-initializer")) owner = "what the initializers fetch";
          if (!owner.empty()) warn(path->range, diag::ControllerPath{.path = at, .owner = owner});
        }
      }
  }
}

// What the torchtune plugin of the controller refuses: it reads the recipe out of the runtime's name.
void Checker::torchtuneRules(const BlockValue &job, const BlockValue *trainer, const Decl &runtime) {
  const bool isEngine = trainer && textOf(*trainer, "engine") == "torchtune";
  const BlockValue *owner = job.find("command") ? &job : trainer;
  const ArrayRef<Item> command = owner ? listAt(*owner, "command") : ArrayRef<Item>();
  const bool isCommand = command.size() == 2 && command[0].value.asString() == "tune" && command[1].value.asString() == "run";
  if (memberOf(runtime.body.asBlock(), "policy") != "torch" || !(isEngine || isCommand)) return;
  const SourceRange at = job.find("runtime")->range;
  llvm::SmallVector<StringRef, 4> parts;
  runtime.kubeName.split(parts, '-');
  std::string model;
  if (parts.size() == 3) {
    model = parts[1].str();
    std::replace(model.begin(), model.end(), '.', '_');
    model += "/" + parts[2].upper();
  }
  constexpr StringRef known[] = {"llama3_2/1B", "llama3_2/3B", "llama3_3/70B", "qwen2_5/1.5B"};
  if (!llvm::is_contained(known, StringRef(model))) {
    failed_ = true;
    if (once<diag::TorchtuneModel>(at)) diags_.report(at, diag::TorchtuneModel{.runtime = runtime.kubeName}).rule("V146");
    return;
  }
  const BlockValue *lora = trainer ? blockAt(*trainer, "lora") : nullptr;
  auto flag = [&](StringRef name) {
    const Entry *entry = lora ? lora->find(name) : nullptr;
    return entry && entry->value.is(ValueKind::Bool) && entry->value.asBool();
  };
  bool loraOn = lora != nullptr, quantized = flag("quantize"), dora = flag("dora");
  const BlockValue *argsOwner = job.find("args") ? &job : trainer;
  for (const Item &item : argsOwner ? listAt(*argsOwner, "args") : ArrayRef<Item>()) {
    const StringRef text = item.value.asString();
    auto [key, value] = text.split('=');
    loraOn |= text.contains("model.lora_attn_modules");
    const bool on = value.trim().equals_insensitive("true");
    quantized |= on && key.contains("model.quantize_base");
    dora |= on && key.contains("model.use_dora");
    if (key == "output_dir" || key == "tokenizer.path" || key == "tokenizer.merges_file" || key == "checkpointer.checkpoint_dir") {
      failed_ = true;
      if (once<diag::TorchtuneArg>(item.range)) diags_.report(item.range, diag::TorchtuneArg{.name = key}).rule("V151");
    }
  }
  const bool qlora = quantized && !dora;
  const int64_t nodes = intOf(job, "nodes", 1);
  const Entry *nodesEntry = job.find("nodes");
  if (nodes > 1 && model != "llama3_3/70B") {
    failed_ = true;
    if (once<diag::TorchtuneNodes>(nodesEntry->range)) diags_.report(nodesEntry->range, diag::TorchtuneNodes{.model = model, .why = "only llama3_3/70B has a recipe for more"}).rule("V147");
  } else if (nodes > 1 && (loraOn || qlora)) {
    failed_ = true;
    if (once<diag::TorchtuneNodes>(nodesEntry->range)) diags_.report(nodesEntry->range, diag::TorchtuneNodes{.model = model, .why = "adapters are trained on one node"}).rule("V150");
  }
  if (!qlora || nodes > 1) return;
  const SourceRange place = lora && lora->find("quantize") ? lora->find("quantize")->range : at;
  if (model == "qwen2_5/1.5B") {
    failed_ = true;
    if (once<diag::TorchtuneQlora>(place)) diags_.report(place, diag::TorchtuneQlora{.model = model, .why = "has no recipe with quantized weights"}).rule("V148");
    return;
  }
  const Entry *procs = job.find("procs_per_node");
  const Entry *group = trainerGroup(runtime.body.asBlock());
  const BlockValue *main = group ? containerOf(group->value.asBlock(), "containers", "node") : nullptr;
  const BlockValue *resources = blockAt(job, "resources") ? blockAt(job, "resources") : main ? blockAt(*main, "resources") : nullptr;
  const bool single = (procs && procs->value.asInt() == 1) || gpus(resources) == 1;
  if (!single && StringRef(model).startswith("llama3_2")) {
    failed_ = true;
    if (once<diag::TorchtuneQlora>(place)) diags_.report(place, diag::TorchtuneQlora{.model = model, .why = "needs exactly one device for quantized weights: `gpu = 1` or `procs_per_node = 1`"}).rule("V149");
  }
}

} // namespace kft::sema
