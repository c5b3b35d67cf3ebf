// From checked bodies to jobs. What a job writes over its trainer is laid over it here, Kubernetes-shaped parts become
// trees, and every default of the schema table is filled in that the cluster does not fill in itself.
#include "compiler/ir/lower.h"

#include "compiler/ir/verify.h"
#include "compiler/sema/native.h"
#include "compiler/sema/schema.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace kft::ir {
namespace {

using llvm::ArrayRef;
using llvm::StringRef;
using sema::BlockValue;
using sema::Decl;
using sema::Entry;
using sema::Item;
using sema::Source;
using sema::Value;
using sema::ValueKind;

// The default of a field as the table has it, without quotes.
StringRef defaultOf(StringRef block, StringRef field) {
  const sema::schema::Block *shape = sema::schema::find(block);
  const sema::schema::Field *row = shape ? shape->find(field) : nullptr;
  StringRef text = row ? row->defaultText : StringRef();
  if (text.consume_front("\"")) text.consume_back("\"");
  return text;
}

int64_t intDefault(StringRef block, StringRef field) {
  int64_t number = 0;
  defaultOf(block, field).getAsInteger(10, number);
  return number;
}

double floatDefault(StringRef block, StringRef field) {
  double number = 0;
  defaultOf(block, field).getAsDouble(number);
  return number;
}

const BlockValue *blockAt(const BlockValue &owner, StringRef key) {
  const Entry *entry = owner.find(key);
  return entry && entry->value.is(ValueKind::Block) ? &entry->value.asBlock() : nullptr;
}

std::optional<int64_t> intAt(const BlockValue &owner, StringRef key) {
  const Entry *entry = owner.find(key);
  if (!entry || !entry->value.is(ValueKind::Int)) return std::nullopt;
  return entry->value.asInt();
}

std::string textAt(const BlockValue &owner, StringRef key, StringRef otherwise = {}) {
  const Entry *entry = owner.find(key);
  return (entry && entry->value.is(ValueKind::String) ? entry->value.asString() : otherwise).str();
}

bool boolAt(const BlockValue &owner, StringRef key, bool otherwise) {
  const Entry *entry = owner.find(key);
  return entry && entry->value.is(ValueKind::Bool) ? entry->value.asBool() : otherwise;
}

double floatAt(const BlockValue &owner, StringRef key, double otherwise) {
  const Entry *entry = owner.find(key);
  return entry && (entry->value.is(ValueKind::Float) || entry->value.is(ValueKind::Int)) ? entry->value.asFloat() : otherwise;
}

At rangeOf(const BlockValue &owner, StringRef key, SourceRange otherwise = {}) {
  const Entry *entry = owner.find(key);
  return entry && entry->range.valid() ? At(entry->range) : At(otherwise);
}

Tree toTree(const Value &value, SourceRange at) {
  switch (value.kind()) {
  case ValueKind::Bool: return Tree::of(value.asBool(), at);
  case ValueKind::Int: return Tree::of(value.asInt(), at);
  case ValueKind::Float: return Tree::of(value.asFloat(), at);
  case ValueKind::String: return Tree::of(value.asString().str(), at);
  case ValueKind::Amount: return Tree::of(value.asAmount().str(), at);
  case ValueKind::List: {
    Tree list = Tree::list(at);
    for (const Item &item : value.asList())
      list.add(toTree(item.value, item.range.valid() ? item.range : at));
    return list;
  }
  case ValueKind::Block: {
    Tree map = Tree::map(at);
    for (const Entry &entry : value.asBlock().entries)
      if (!entry.value.isNull()) map.set(entry.key.str(), toTree(entry.value, entry.range));
    return map;
  }
  default: return Tree::null(at);
  }
}

StringMap stringMap(const BlockValue *block) {
  StringMap map;
  if (block)
    for (const Entry &entry : block->entries)
      if (entry.value.is(ValueKind::String)) map.emplace_back(entry.key.str(), entry.value.asString().str());
  return map;
}

std::vector<std::string> texts(const BlockValue &owner, StringRef key, std::vector<At> *ranges = nullptr) {
  std::vector<std::string> list;
  const Entry *entry = owner.find(key);
  if (entry && entry->value.is(ValueKind::List))
    for (const Item &item : entry->value.asList()) {
      list.push_back(item.value.asString().str());
      if (ranges) ranges->push_back(item.range.valid() ? item.range : entry->range);
    }
  return list;
}

Tree sourceTree(const Source &source, SourceRange at) {
  Tree tree = Tree::map(at);
  switch (source.kind) {
  case Source::Kind::Secret:
  case Source::Kind::Config: {
    Tree &ref = tree[source.kind == Source::Kind::Secret ? "secretKeyRef" : "configMapKeyRef"];
    ref.set("name", Tree::of(source.name.str(), at));
    ref.set("key", Tree::of(source.key.str(), at));
    break;
  }
  case Source::Kind::Field: tree["fieldRef"].set("fieldPath", Tree::of(source.name.str(), at)); break;
  case Source::Kind::Resource: tree["resourceFieldRef"].set("resource", Tree::of(source.name.str(), at)); break;
  }
  return tree;
}

// Lays the entries of `block` over `env`: a name that is there keeps its place, null takes it away.
void overlayEnv(std::vector<EnvVar> &env, const BlockValue *block) {
  if (!block) return;
  for (const Entry &entry : block->entries) {
    auto found = llvm::find_if(env, [&](const EnvVar &variable) { return variable.name == entry.key; });
    if (entry.value.isNull()) {
      if (found != env.end()) env.erase(found);
      continue;
    }
    EnvVar variable;
    variable.name = entry.key.str();
    variable.at = entry.range;
    if (entry.value.is(ValueKind::Source)) variable.valueFrom = sourceTree(entry.value.asSource(), entry.range);
    else if (entry.value.is(ValueKind::Block)) {
      if (const Entry *from = entry.value.asBlock().find("valueFrom")) variable.valueFrom = toTree(from->value, from->range);
      else if (const Entry *text = entry.value.asBlock().find("value")) variable.value = text->value.asString().str();
    } else variable.value = entry.value.asString().str();
    if (found != env.end()) *found = std::move(variable);
    else env.push_back(std::move(variable));
  }
}

class Lowering {
public:
  explicit Lowering(Compilation &compilation) : compilation_(compilation) {}

  Program program(const sema::Module &module) {
    Program program;
    llvm::SmallVector<const Decl *, 8> written;
    for (const Decl *decl : module.decls)
      if (decl->kind == "runtime" && !decl->isAbstract && decl->body.is(ValueKind::Block)) written.push_back(decl);
    for (const Decl *decl : module.decls) {
      if (decl->kind != "job" || decl->isAbstract || !decl->body.is(ValueKind::Block)) continue;
      program.jobs.push_back(job(*decl));
      const Entry *used = decl->body.asBlock().find("runtime");
      if (used && used->value.is(ValueKind::Ref) && !llvm::is_contained(written, &used->value.asRef())) written.push_back(&used->value.asRef());
    }
    for (const Decl *decl : written) {
      Runtime made = runtime(*decl);
      if (!made.installed) program.runtimes.push_back(std::move(made));
    }
    verify(program);
    return program;
  }

private:
  struct Part {
    const BlockValue *block = nullptr;
    std::string name; // of the declaration; empty for one written in place
    SourceRange at;
  };

  Part part(const BlockValue &job, StringRef field) const {
    const Entry *entry = job.find(field);
    if (!entry) return {};
    if (entry->value.is(ValueKind::Ref)) {
      const Decl &decl = entry->value.asRef();
      return {&decl.body.asBlock(), decl.name.str(), decl.nameRange};
    }
    if (!entry->value.is(ValueKind::Block)) return {};
    const BlockValue &block = entry->value.asBlock();
    return {&block, block.from ? block.from->name.str() : std::string(), entry->range};
  }

  // Absolute; relative ones start at the file they are written in.
  std::string absolute(StringRef path, SourceRange writtenAt) const {
    llvm::SmallString<256> full;
    if (!llvm::sys::path::is_absolute(path)) {
      const StringRef file = writtenAt.valid() ? compilation_.sources.path(writtenAt.file) : StringRef();
      if (!file.empty()) full = llvm::sys::path::parent_path(file);
      else llvm::sys::fs::current_path(full);
    }
    llvm::sys::path::append(full, path);
    llvm::sys::path::remove_dots(full, /*remove_dot_dot=*/true);
    return full.str().str();
  }

  std::optional<Initializer> initializer(const BlockValue &block) const {
    const StringRef uri = block.find("source") ? block.find("source")->value.asString() : StringRef();
    auto [scheme, rest] = uri.split("://");
    if (rest.empty() || scheme == "file") return std::nullopt;
    Initializer made;
    made.storageUri = uri.str();
    made.atUri = rangeOf(block, "source");
    made.at = made.atUri;
    if (const Entry *auth = block.find("auth"); auth && auth->value.is(ValueKind::Source)) made.secretName = auth->value.asSource().name.str();
    overlayEnv(made.env, blockAt(block, "env"));
    return made;
  }

  // With every argument, in the order of the table.
  Spec spec(StringRef tag, const Value &value, SourceRange at) const {
    Spec made;
    made.at = at;
    const BlockValue &block = value.asBlock();
    made.name = textAt(block, tag);
    const sema::native::Spec *known = sema::native::find(tag, made.name);
    if (!known) return made;
    for (const sema::native::Argument &argument : sema::native::arguments(*known)) {
      const Entry *entry = block.find(argument.name);
      if (entry && !entry->value.isNull()) {
        // Places in the standard library help nobody: the call is the place.
        made.args.emplace_back(argument.name.str(), toTree(entry->value, entry->range.valid() && entry->range.file == at.file ? entry->range : at));
        continue;
      }
      made.args.emplace_back(argument.name.str(), parsedDefault(argument.type, argument.defaultText, at));
    }
    return made;
  }

  static Tree parsedDefault(StringRef type, StringRef text, SourceRange at) {
    int64_t integer = 0;
    double number = 0;
    if (text.consume_front("\"")) {
      text.consume_back("\"");
      return Tree::of(text.str(), at);
    }
    if (text == "true" || text == "false") return Tree::of(text == "true", at);
    if (type.startswith("int") && !text.getAsInteger(10, integer)) return Tree::of(integer, at);
    if (!text.getAsDouble(number)) return Tree::of(number, at);
    return Tree::null(at);
  }

  Dataset dataset(const Part &from) const {
    const BlockValue &block = *from.block;
    Dataset made;
    made.name = from.name;
    made.at = from.at;
    made.source = textAt(block, "source");
    made.atSource = rangeOf(block, "source", from.at);
    StringRef local = made.source;
    const auto [scheme, rest] = local.split("://");
    made.isRemote = !rest.empty() && scheme != "file";
    if (!made.isRemote) {
      local.consume_front("file://");
      made.localPath = absolute(local, made.atSource);
    }
    made.initializer = initializer(block);
    if (const Entry *format = block.find("format")) made.format = spec("format", format->value, format->range);
    else if (local.endswith(".csv") || local.endswith(".tsv")) {
      made.format = Spec();
      made.format->name = "csv";
      made.format->at = made.atSource;
      for (const sema::native::Argument &argument : sema::native::arguments(*sema::native::find("format", "csv")))
        made.format->args.emplace_back(argument.name.str(), parsedDefault(argument.type, argument.defaultText, made.atSource));
      if (local.endswith(".tsv"))
        for (auto &[name, value] : made.format->args)
          if (name == "delimiter") value.text = "\t";
    }
    if (made.format)
      for (auto &[name, value] : made.format->args)
        if (name == "labels" && !value.text.empty()) value.text = absolute(value.text, value.origin);
    made.columns = texts(block, "features");
    made.label = textAt(block, "label");
    if (made.label.empty() && made.format)
      if (const Tree *label = made.format->arg("label")) made.label = label->text;
    // A file without a header line has columns called "0", "1", …; `columns` gives them names in this text.
    const std::vector<std::string> columns = texts(block, "columns");
    auto position = [&](std::string &name) {
      auto found = llvm::find(columns, name);
      if (found != columns.end()) name = std::to_string(found - columns.begin());
    };
    if (!columns.empty()) {
      if (made.columns.empty())
        for (const std::string &column : columns)
          if (column != made.label) made.columns.push_back(column);
      for (std::string &column : made.columns)
        position(column);
      position(made.label);
      if (made.format)
        for (auto &[name, value] : made.format->args) {
          if (name == "header") value = Tree::of(false, value.origin);
          if (name == "label") value.text = made.label;
        }
    }
    made.scale = floatAt(block, "scale", floatDefault("dataset", "scale"));
    made.normalize = textAt(block, "normalize", defaultOf("dataset", "normalize"));
    if (made.normalize == "none") made.normalize.clear();
    if (const BlockValue *split = blockAt(block, "split")) {
      made.testFraction = floatAt(*split, "test", 0);
      made.splitSeed = static_cast<uint64_t>(intAt(*split, "seed").value_or(intDefault("split", "seed")));
    }
    made.testSource = textAt(block, "test");
    if (!made.testSource.empty()) {
      StringRef path = made.testSource;
      path.consume_front("file://");
      made.testPath = absolute(path, rangeOf(block, "test", from.at));
    }
    made.shuffle = boolAt(block, "shuffle", defaultOf("dataset", "shuffle") == "true");
    if (const auto seed = intAt(block, "seed")) made.seed = static_cast<uint64_t>(*seed);
    return made;
  }

  Model model(const Part &from) const {
    const BlockValue &block = *from.block;
    Model made;
    made.name = from.name;
    made.at = from.at;
    made.initializer = initializer(block);
    made.atInput = rangeOf(block, "input", from.at);
    if (const Entry *input = block.find("input"))
      for (const Item &item : input->value.asList())
        made.input.push_back(item.value.asInt());
    made.dtype = textAt(block, "dtype", defaultOf("model", "dtype"));
    made.init = textAt(block, "init", defaultOf("model", "init"));
    if (const auto seed = intAt(block, "seed")) made.seed = static_cast<uint64_t>(*seed);
    if (const Entry *layers = block.find("layers"))
      for (const Item &item : layers->value.asList())
        made.layers.push_back(spec("layer", item.value, item.range.valid() ? item.range : layers->range));
    return made;
  }

  NativeTrainer native(const BlockValue &block, SourceRange at) const {
    NativeTrainer made;
    made.loss.name = textAt(block, "loss");
    made.loss.at = rangeOf(block, "loss", at);
    made.optimizer = spec("optimizer", block.find("optimizer")->value, block.find("optimizer")->range);
    if (const Entry *schedule = block.find("schedule")) {
      made.schedule = spec("schedule", schedule->value, schedule->range);
    } else {
      // schema.def: nn.constant().
      made.schedule.name = "constant";
      made.schedule.at = at;
      for (const sema::native::Argument &argument : sema::native::arguments(*sema::native::find("schedule", "constant")))
        made.schedule.args.emplace_back(argument.name.str(), parsedDefault(argument.type, argument.defaultText, at));
    }
    made.batch = intAt(block, "batch").value_or(0);
    made.atBatch = rangeOf(block, "batch", at);
    made.microBatch = intAt(block, "micro_batch").value_or(0);
    made.epochs = intAt(block, "epochs");
    made.steps = intAt(block, "steps");
    if (block.find("clip")) made.clip = floatAt(block, "clip", 0);
    made.metrics = texts(block, "metrics");
    if (const BlockValue *eval = blockAt(block, "eval")) made.evalEvery = intAt(*eval, "every").value_or(intDefault("eval", "every"));
    if (const BlockValue *stop = blockAt(block, "early_stop"))
      made.earlyStop = EarlyStop{textAt(*stop, "metric", defaultOf("early_stop", "metric")), intAt(*stop, "patience").value_or(0),
                                 floatAt(*stop, "min_delta", floatDefault("early_stop", "min_delta"))};
    if (const BlockValue *checkpoint = blockAt(block, "checkpoint"))
      made.checkpoint = CheckpointPolicy{intAt(*checkpoint, "every").value_or(intDefault("checkpoint", "every")),
                                         intAt(*checkpoint, "keep").value_or(intDefault("checkpoint", "keep"))};
    made.seed = static_cast<uint64_t>(intAt(block, "seed").value_or(intDefault("trainer", "seed")));
    made.precision = textAt(block, "precision", defaultOf("trainer", "precision"));
    made.shardOptimizer = boolAt(block, "shard_optimizer", defaultOf("trainer", "shard_optimizer") == "true");
    return made;
  }

  // A recipe as arguments of `tune run`, in the names that torchtune's configurations have.
  static void torchtune(const BlockValue &block, const Part &data, std::vector<std::string> &args, std::vector<At> &ranges) {
    auto add = [&](StringRef name, const llvm::Twine &value, SourceRange at) {
      args.push_back((name + "=" + value).str());
      ranges.push_back(at);
    };
    auto python = [](bool value) { return value ? "True" : "False"; };
    if (const Entry *dtype = block.find("dtype")) add("dtype", dtype->value.asString(), dtype->range);
    if (const Entry *batch = block.find("batch")) add("batch_size", llvm::Twine(batch->value.asInt()), batch->range);
    if (const Entry *epochs = block.find("epochs")) add("epochs", llvm::Twine(epochs->value.asInt()), epochs->range);
    if (const Entry *loss = block.find("loss")) {
      const StringRef name = loss->value.asString();
      add("loss", name.contains('.') ? name.str() : "torchtune.modules.loss." + name.str(), loss->range);
    }
    if (const Entry *entry = block.find("lora"); entry && entry->value.is(ValueKind::Block)) {
      const BlockValue &lora = entry->value.asBlock();
      std::string modules;
      const Entry *given = lora.find("modules");
      if (given) {
        for (const std::string &module : texts(lora, "modules"))
          modules += (modules.empty() ? "" : ",") + module;
      } else {
        for (char c : defaultOf("lora", "modules"))
          if (c != '[' && c != ']' && c != '"' && c != ' ') modules += c;
      }
      add("model.lora_attn_modules", "[" + modules + "]", rangeOf(lora, "modules", entry->range));
      add("model.apply_lora_to_mlp", python(boolAt(lora, "mlp", defaultOf("lora", "mlp") == "true")), rangeOf(lora, "mlp", entry->range));
      add("model.apply_lora_to_output", python(boolAt(lora, "output", defaultOf("lora", "output") == "true")), rangeOf(lora, "output", entry->range));
      add("model.lora_rank", llvm::Twine(intAt(lora, "rank").value_or(intDefault("lora", "rank"))), rangeOf(lora, "rank", entry->range));
      add("model.lora_alpha", llvm::Twine(intAt(lora, "alpha").value_or(intDefault("lora", "alpha"))), rangeOf(lora, "alpha", entry->range));
      add("model.lora_dropout", sema::floatText(floatAt(lora, "dropout", floatDefault("lora", "dropout"))), rangeOf(lora, "dropout", entry->range));
      if (boolAt(lora, "quantize", false)) add("model.quantize_base", "True", rangeOf(lora, "quantize", entry->range));
      if (boolAt(lora, "dora", false)) add("model.use_dora", "True", rangeOf(lora, "dora", entry->range));
    }
    const BlockValue *preprocess = blockAt(block, "preprocess");
    const SourceRange at = rangeOf(block, "preprocess");
    // What the initializer fetched lies here; a path below the name of the dataset stays a path below it.
    std::string files = preprocess ? textAt(*preprocess, "files") : "";
    if (data.block) {
      StringRef source = data.block->find("source") ? data.block->find("source")->value.asString() : StringRef();
      const bool isHub = source.consume_front("hf://");
      llvm::SmallVector<StringRef, 4> path;
      source.split(path, '/', -1, false);
      if (files.empty() && isHub)
        for (size_t i = 2; i < path.size(); ++i)
          files += (files.empty() ? "" : "/") + path[i].str();
      const bool isFile = StringRef(files).rsplit('/').second.contains('.') || (!StringRef(files).contains('/') && StringRef(files).contains('.'));
      if (isHub || !files.empty())
        add(isFile ? "dataset.data_files" : "dataset.data_dir", "/workspace/dataset" + (files.empty() ? "" : "/" + files), preprocess ? at : SourceRange(data.at));
    }
    if (!preprocess) return;
    add("dataset", "torchtune.datasets.instruct_dataset", at);
    add("dataset.source", textAt(*preprocess, "source", defaultOf("preprocess", "source")), rangeOf(*preprocess, "source", at));
    if (const Entry *split = preprocess->find("split")) add("dataset.split", split->value.asString(), split->range);
    if (const Entry *train = preprocess->find("train_on_input")) add("dataset.train_on_input", python(train->value.asBool()), train->range);
    if (const Entry *prompt = preprocess->find("system_prompt")) add("dataset.new_system_prompt", prompt->value.asString(), prompt->range);
    if (const BlockValue *columns = blockAt(*preprocess, "columns"))
      for (const Entry &column : columns->entries)
        if (column.value.is(ValueKind::String)) add("dataset.column_map." + column.key.str(), column.value.asString(), column.range);
  }

  static void append(const BlockValue &owner, StringRef key, std::optional<std::vector<std::string>> &list, std::vector<At> &ranges) {
    const Entry *entry = owner.find(key);
    if (!entry) return;
    if (!list || entry->how != Entry::How::Append) {
      list.emplace();
      ranges.clear();
    }
    std::vector<std::string> more = texts(owner, key, &ranges);
    list->insert(list->end(), more.begin(), more.end());
  }

  static std::vector<std::string> python(StringRef policy) {
    // torchrun finds the other nodes through PET_* variables; mpirun starts the same program in every slot.
    if (policy == "torch") return {"torchrun"};
    if (policy == "mpi") return {"mpirun", "python3"};
    return {"python3"};
  }

  Job job(const Decl &decl) {
    const BlockValue &body = decl.body.asBlock();
    Job made;
    made.name = decl.name.str();
    made.kubeName = decl.kubeName.str();
    made.nameSpace = textAt(body, "namespace");
    made.at = decl.range;
    made.atName = rangeOf(body, "name", decl.nameRange);
    const Entry *runtimeEntry = body.find("runtime");
    made.atRuntime = runtimeEntry->range;
    made.runtime = runtime(runtimeEntry->value.asRef());

    const Part data = part(body, "dataset"), net = part(body, "model"), how = part(body, "trainer");
    if (data.block) made.dataset = dataset(data);
    if (net.block) made.model = model(net);
    if (how.block) {
      const BlockValue &block = *how.block;
      Trainer trainer;
      trainer.name = how.name;
      trainer.at = how.at;
      const std::string engine = textAt(block, "engine", defaultOf("trainer", "engine"));
      trainer.engine = engine == "native" ? Engine::Native : engine == "torchtune" ? Engine::Torchtune : Engine::Command;
      if (trainer.engine == Engine::Native) trainer.native = native(block, how.at);
      made.trainer = std::move(trainer);
      if (block.find("image")) made.image = textAt(block, "image"), made.atImage = rangeOf(block, "image");
      if (block.find("workdir")) made.workdir = textAt(block, "workdir");
      if (engine == "torchtune") {
        made.command = {"tune", "run"};
        made.atCommand = {how.at, how.at};
        made.args.emplace();
        torchtune(block, data, *made.args, made.atArgs);
        std::vector<std::string> more = texts(block, "args", &made.atArgs);
        made.args->insert(made.args->end(), more.begin(), more.end());
      } else {
        append(block, "command", made.command, made.atCommand);
        if (const Entry *script = block.find("python")) {
          made.command = python(made.runtime.policy);
          made.atCommand.assign(made.command->size(), script->range);
          if (script->value.is(ValueKind::String)) {
            made.command->push_back(script->value.asString().str());
            made.atCommand.push_back(script->range);
          } else {
            std::vector<std::string> words = texts(block, "python", &made.atCommand);
            made.command->insert(made.command->end(), words.begin(), words.end());
          }
        }
        append(block, "args", made.args, made.atArgs);
      }
      overlayEnv(made.env, blockAt(block, "env"));
    }
    if (body.find("image")) made.image = textAt(body, "image"), made.atImage = rangeOf(body, "image");
    if (body.find("workdir")) made.workdir = textAt(body, "workdir");
    append(body, "command", made.command, made.atCommand);
    append(body, "args", made.args, made.atArgs);
    if (const Entry *env = body.find("env")) {
      if (env->how == Entry::How::Set) made.env.clear();
      overlayEnv(made.env, blockAt(body, "env"));
    }

    made.nodes = intAt(body, "nodes");
    made.atNodes = rangeOf(body, "nodes", made.atName);
    made.procsPerNode = intAt(body, "procs_per_node");
    made.atProcs = rangeOf(body, "procs_per_node", made.atName);
    if (const BlockValue *resources = blockAt(body, "resources")) {
      made.resources.at = rangeOf(body, "resources");
      for (auto [side, target] : {std::pair{"limits", &made.resources.limits}, {"requests", &made.resources.requests}})
        if (const BlockValue *map = blockAt(*resources, side))
          for (const Entry &entry : map->entries)
            if (entry.value.is(ValueKind::Amount)) target->emplace_back(entry.key.str(), entry.value.asAmount().str());
    }
    if (const Entry *deadline = body.find("deadline")) made.deadlineSeconds = deadline->value.asMilliseconds() / 1000;
    if (body.find("suspend")) made.suspend = boolAt(body, "suspend", false);
    if (body.find("managed_by")) made.managedBy = textAt(body, "managed_by");
    made.labels = stringMap(blockAt(body, "labels"));
    if (body.find("queue")) made.labels.emplace_back("kueue.x-k8s.io/queue-name", textAt(body, "queue"));
    if (body.find("priority")) made.labels.emplace_back("kueue.x-k8s.io/priority-class", textAt(body, "priority"));
    made.annotations = stringMap(blockAt(body, "annotations"));
    for (const Entry &entry : body.entries)
      if (entry.key == "patch" && entry.value.is(ValueKind::Block)) {
        Patch one = patch(entry);
        // Nothing in it: nothing to write.
        if (!one.replicatedJob.empty() || !one.jobMetadata.empty() || !one.jobSpec.empty() || !one.podMetadata.empty() || !one.podSpec.empty())
          made.patches.push_back(std::move(one));
      }
    made.patchManager = textAt(body, "patch_manager", defaultOf("job", "patch_manager"));
    if (const Entry *retries = body.find("retries")) {
      Retries again;
      int64_t seconds = 0;
      StringRef backoff = defaultOf("retries", "backoff");
      backoff.consume_back("s");
      backoff.getAsInteger(10, seconds);
      again.backoffMilliseconds = seconds * 1000;
      again.on = {"any"}; // schema.def: ["any"]
      if (retries->value.is(ValueKind::Int)) {
        again.count = retries->value.asInt();
      } else if (retries->value.is(ValueKind::Block)) {
        const BlockValue &block = retries->value.asBlock();
        again.count = intAt(block, "count").value_or(0);
        if (const Entry *wait = block.find("backoff")) again.backoffMilliseconds = wait->value.asMilliseconds();
        if (const Entry *on = block.find("on")) {
          again.on.clear();
          for (const Item &item : on->value.asList())
            again.on.push_back(item.value.is(ValueKind::Int) ? std::to_string(item.value.asInt()) : item.value.asString().str());
        }
      }
      made.retries = std::move(again);
    }
    return made;
  }

  static void metadata(const BlockValue &block, Tree &into, SourceRange at) {
    for (const char *key : {"labels", "annotations"})
      if (const Entry *entry = block.find(key)) {
        if (into.kind == Tree::Kind::Null) into = Tree::map(at);
        into.set(key, toTree(entry->value, entry->range));
      }
  }

  // The members that groups and patches have in common.
  template <typename Target>
  static void podParts(const BlockValue &block, Target &target, SourceRange at) {
    metadata(block, target.podMetadata, at);
    if (const Entry *entry = block.find("job"); entry && entry->value.is(ValueKind::Block)) {
      metadata(entry->value.asBlock(), target.jobMetadata, entry->range);
      for (const Entry &member : entry->value.asBlock().entries)
        if (member.key != "labels" && member.key != "annotations") target.jobSpec.set(member.key.str(), toTree(member.value, member.range));
    }
    for (const Entry &member : block.entries) {
      if (member.key == "labels" || member.key == "annotations" || member.key == "job" || member.key == "step") continue;
      if (member.key == "replicas" || member.key == "groupName" || member.key == "dependsOn") target.replicatedJob.set(member.key.str(), toTree(member.value, member.range));
      else target.podSpec.set(member.key.str(), toTree(member.value, member.range));
    }
  }

  static Patch patch(const Entry &entry) {
    Patch made;
    made.group = entry.name.str();
    made.at = entry.nameRange.valid() ? entry.nameRange : entry.keyRange;
    podParts(entry.value.asBlock(), made, entry.range);
    return made;
  }

  Runtime runtime(const Decl &decl) {
    const BlockValue &body = decl.body.asBlock();
    Runtime made;
    made.name = decl.name.str();
    made.kubeName = decl.kubeName.str();
    made.at = decl.range;
    made.atName = rangeOf(body, "name", decl.nameRange);
    made.clusterScope = textAt(body, "scope", defaultOf("runtime", "scope")) == "cluster";
    made.nameSpace = textAt(body, "namespace");
    made.installed = boolAt(body, "installed", defaultOf("runtime", "installed") == "true");
    made.deprecated = boolAt(body, "deprecated", defaultOf("runtime", "deprecated") == "true");
    if (const BlockValue *policy = blockAt(body, "policy"); policy && !policy->entries.empty()) {
      made.policy = policy->entries[0].key.str();
      made.policySpec = toTree(policy->entries[0].value, policy->entries[0].range);
    }
    made.framework = textAt(body, "framework", made.policy);
    made.nodes = intAt(body, "nodes").value_or(intDefault("runtime", "nodes"));
    if (const Entry *procs = body.find("procs_per_node")) made.policySpec.set("numProcPerNode", Tree::of(procs->value.asInt(), procs->range));
    if (const BlockValue *gang = blockAt(body, "gang")) made.gang = toTree(Value::block(gang), rangeOf(body, "gang"));
    made.labels = stringMap(blockAt(body, "labels"));
    made.annotations = stringMap(blockAt(body, "annotations"));
    if (const BlockValue *jobSet = blockAt(body, "template"))
      for (const Entry &entry : jobSet->entries) {
        if (entry.key == "metadata") made.templateMetadata = toTree(entry.value, entry.range);
        else made.templateSpec.set(entry.key.str(), toTree(entry.value, entry.range));
      }
    for (const Entry &entry : body.entries) {
      if (entry.key != "group" || !entry.value.is(ValueKind::Block)) continue;
      Group group;
      group.name = entry.name.str();
      group.at = entry.nameRange;
      group.step = textAt(entry.value.asBlock(), "step");
      podParts(entry.value.asBlock(), group, entry.range);
      made.groups.push_back(std::move(group));
    }
    return made;
  }

  Compilation &compilation_;
};

} // namespace

Program lower(const sema::Module &module, Compilation &compilation) { return Lowering(compilation).program(module); }

} // namespace kft::ir
