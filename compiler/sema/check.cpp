// Walks the table of kinds and fields. Declarations are taken in the order in which they can refer to each other, so that a
// job sees the checked bodies of its parts.
#include "compiler/sema/check_rules.h"
#include "compiler/sema/native.h"

#include "llvm/ADT/STLExtras.h"

namespace kft::sema {
namespace {

// The names that Kubernetes' own objects and other tools have for what is a field of ours. What is no plain name shows how the field is
// written, for it wants another value.
struct Alias {
  StringRef block, theirs, ours;
};
constexpr Alias Aliases[] = {
    {"job", "numNodes", "nodes"},
    {"job", "num_nodes", "nodes"},
    {"job", "nnodes", "nodes"},
    {"job", "replicas", "nodes"},
    {"job", "workers", "nodes"},
    {"job", "num_workers", "nodes"},
    {"job", "numProcPerNode", "procs_per_node"},
    {"job", "gpus", "resources { gpu = … }"},
    {"job", "gpu", "resources { gpu = … }"},
    {"job", "cpu", "resources { cpu = … }"},
    {"job", "memory", "resources { memory = … }"},
    {"job", "epochs", "trainer { epochs = … }"},
    {"job", "extends", "job name extends job.other { … }"},
    {"job", "timeout", "deadline"},
    {"job", "volumes", "patch node { volumes { … } }"},
    {"job", "nodeSelector", "patch node { nodeSelector { … } }"},
    {"job", "tolerations", "patch node { tolerations = [ … ] }"},
    {"job", "resourcesPerNode", "resources"},
    {"job", "activeDeadlineSeconds", "deadline"},
    {"job", "managedBy", "managed_by"},
    {"job", "runtimeRef", "runtime"},
    {"job", "runtimePatches", "patch"},
    {"job", "podTemplateOverrides", "patch"},
    {"job", "workingDir", "workdir"},
    {"job", "backoffLimit", "retries"},
    {"trainer", "workingDir", "workdir"},
    {"trainer", "batch_size", "batch"},
    {"trainer", "learning_rate", "optimizer = nn.adam(lr = …)"},
    {"trainer", "lr", "optimizer = nn.adam(lr = …)"},
    {"trainer", "momentum", "optimizer = nn.sgd(lr = …, momentum = …)"},
    {"trainer", "weight_decay", "optimizer = nn.adamw(lr = …, weight_decay = …)"},
    {"trainer", "warmup", "schedule = nn.cosine(warmup = …)"},
    {"trainer", "patience", "early_stop { patience = … }"},
    {"trainer", "num_epochs", "epochs"},
    {"trainer", "max_steps", "steps"},
    {"trainer", "grad_clip", "clip"},
    {"lora", "r", "rank"},
    {"lora", "target_modules", "modules"},
    {"lora", "lora_alpha", "alpha"},
    {"dataset", "path", "source"},
    {"dataset", "file", "source"},
    {"dataset", "uri", "source"},
    {"dataset", "target", "label"},
    {"dataset", "delimiter", "format = datasets.csv(delimiter = …)"},
    {"dataset", "header", "format = datasets.csv(header = …)"},
    {"dataset", "storageUri", "source"},
    {"dataset", "secretRef", "auth"},
    {"model", "storageUri", "source"},
    {"model", "secretRef", "auth"},
    {"runtime", "numNodes", "nodes"},
    {"runtime", "numProcPerNode", "procs_per_node"},
    {"runtime", "mlPolicy", "policy"},
    {"runtime", "podGroupPolicy", "gang"},
    {"runtime", "replicatedJobs", "group"},
    {"template", "replicatedJobs", "group"},
    {"torch", "numProcPerNode", "job name { procs_per_node = … }"},
};

// How a layer, optimizer, schedule or format is written: the one that `meant` names, else a common one.
std::string specExample(StringRef tag, StringRef meant) {
  const std::string name = meant.lower();
  if (tag == "layer") {
    if (name == "dropout") return "nn.dropout(0.1)";
    return name != "dense" && native::find(tag, name) ? "nn." + name + "()" : "nn.dense(10)";
  }
  if (tag == "optimizer") return "nn." + (native::find(tag, name) ? name : "sgd") + "(lr = 0.1)";
  if (tag == "schedule") return "nn." + (native::find(tag, name) ? name : "constant") + "()";
  return name == "npy" ? "datasets.npy(labels = \"./labels.npy\")" : "datasets.csv()";
}

int rank(StringRef kind) {
  constexpr StringRef order[] = {"dataset", "model", "trainer", "runtime", "job"};
  for (int i = 0; i < 5; ++i)
    if (order[i] == kind) return i;
  return 5;
}

StringRef titleOf(const schema::Block &shape) {
  if (shape.name == "group_job" || shape.name == "patch_job") return "job";
  return shape.name;
}

const Type &secretType() {
  static const Type type = [] {
    Type made{Type::Kind::Source};
    return made;
  }();
  return type;
}

} // namespace

StringRef memberOf(const BlockValue &block, StringRef key) {
  const BlockValue *member = blockAt(block, key);
  return member && !member->entries.empty() ? member->entries[0].key : StringRef();
}

std::string listing(ArrayRef<StringRef> names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i) text += i + 1 == names.size() ? " and " : ", ";
    text += "`" + names[i].str() + "`";
  }
  return text;
}

void check(ArrayRef<Decl *> decls, Compilation &compilation) { Checker(compilation).run(decls); }

void Checker::run(ArrayRef<Decl *> decls) {
  llvm::SmallVector<Decl *, 16> order(decls.begin(), decls.end());
  llvm::stable_sort(order, [](const Decl *a, const Decl *b) { return rank(a->kind) < rank(b->kind); });
  for (Decl *decl : order)
    declaration(*decl);
  names(decls);
}

void Checker::declaration(Decl &decl) {
  const schema::Block *shape = schema::find(decl.kind);
  if (!shape || !shape->isKind) {
    SourceRange at = decl.range;
    if (compilation_.sources.text(at).startswith(decl.kind)) at.end = at.begin + static_cast<uint32_t>(decl.kind.size());
    if (schema::isKindName(decl.kind)) {
      error(at, diag::ReservedKind{.kind = decl.kind});
    } else if (once<diag::UnknownKind>(at)) {
      llvm::SmallVector<StringRef, 8> kinds;
      for (const schema::Block &candidate : schema::blocks())
        if (candidate.isKind) kinds.push_back(candidate.name);
      auto report = diags_.report(at, diag::UnknownKind{.kind = decl.kind});
      StringRef near = nearestName(decl.kind, kinds);
      if (!near.empty()) report.fixit(at, near, diag::DidYouMean{.name = near});
    }
    decl.body = Value::poison();
    return;
  }
  if (decl.kubeName.empty()) {
    const bool quoted = decl.nameRange.valid() && compilation_.sources.text(decl.nameRange).startswith("\"");
    decl.kubeName = save(kubeName(decl.name, quoted));
  }
  if (!decl.raw.is(ValueKind::Block)) {
    decl.body = Value::poison();
    return;
  }
  // Profiles and tests amend and assert; evaluation has judged them.
  if (decl.kind == "profile" || decl.kind == "test") {
    decl.body = decl.raw;
    return;
  }
  credentials(decl.raw, decl.range, decl.name, false, false);
  if (const Entry *name = decl.raw.asBlock().find("name"); name && name->value.is(ValueKind::String)) decl.kubeName = name->value.asString();
  const SourceRange at = decl.nameRange.valid() ? decl.nameRange : decl.range;
  failed_ = false;
  decl.body = block(*shape, decl.raw.asBlock(), at, decl.isAbstract);
  if (decl.kind == "job" && decl.body.is(ValueKind::Block) && !decl.isAbstract) jobNameBudget(decl, decl.body.asBlock());
}

Value Checker::converted(const Value &value, const Type &type, SourceRange at, const std::string &what) {
  const Value result = convert(value, type, at, what, compilation_);
  if (result.isPoison() && !value.isPoison()) failed_ = true;
  return result;
}

Value Checker::blockWanted(const Value &value, SourceRange at, const std::string &what, StringRef example) {
  if (value.is(ValueKind::Block) || value.is(ValueKind::Source)) return converted(value, Type::block, at, what);
  failed_ = true;
  const std::string found = describe(value);
  if (once<diag::TypeMismatch>(at)) diags_.report(at, diag::TypeMismatch{.what = what, .found = found, .wanted = "a block"}).note(diag::NeededFields{.example = "`" + example.str() + "`"});
  return Value::poison();
}

Value Checker::blockOf(ArrayRef<Entry> entries, SourceRange range, const Decl *from) {
  BlockValue *made = arena_.make<BlockValue>();
  made->entries = arena_.copy<Entry>(entries);
  made->range = range;
  made->from = from;
  return Value::block(made);
}

Entry Checker::entryOf(StringRef key, Value value, SourceRange range) {
  Entry entry;
  entry.key = key;
  entry.keyRange = entry.range = range;
  entry.value = value;
  return entry;
}

void Checker::unknownField(const Entry &entry, StringRef block, ArrayRef<StringRef> candidates, StringRef ofPatch) {
  failed_ = true;
  if (!once<diag::UnknownField>(entry.keyRange)) return;
  auto report = diags_.report(entry.keyRange, diag::UnknownField{.field = entry.key, .block = block});
  // A field of the whole object that its patch has not.
  const kube::Type *whole = ofPatch == "PodPatch" ? kube::find("PodSpec") : ofPatch == "ContainerPatch" ? kube::find("Container") : nullptr;
  if (whole && whole->find(entry.key)) {
    const StringRef ours = entry.key == "workingDir" ? "workdir" : entry.key;
    // The container of the trainer is called `node`; others have no field in a job.
    if (ofPatch == "ContainerPatch" && block == "node" && schema::find("job")->find(ours)) report.note(diag::JobFieldInstead{.field = ours});
    else report.note(diag::NotInPatch{});
    return;
  }
  StringRef near;
  for (const Alias &alias : Aliases)
    if (alias.block == block && alias.theirs == entry.key) near = alias.ours;
  if (near.contains(' ')) {
    report.note(diag::WriteInstead{.text = near});
    return;
  }
  if (near.empty()) near = nearestName(entry.key, candidates);
  if (!near.empty()) report.fixit(entry.keyRange, near, diag::DidYouMean{.name = near});
}

Value Checker::block(const schema::Block &shape, const BlockValue &value, SourceRange at, bool isAbstract) {
  const StringRef title = titleOf(shape);
  const schema::Field *rest = shape.rest();
  const kube::Type *open = nullptr;
  if (rest) {
    const StringRef name = schema::argument(rest->type, "kube");
    if (!name.empty()) open = kube::find(name);
  }
  const bool outerFailed = failed_;
  failed_ = false;
  llvm::SmallVector<Entry, 16> entries;
  for (const Entry &entry : value.entries) {
    if (entry.value.isPoison()) {
      failed_ = true;
      continue;
    }
    const auto key = std::tuple(entry.range.file.index, entry.range.begin, entry.range.end);
    if (bad_.count(key)) {
      failed_ = true;
      continue;
    }
    const schema::Field *field = shape.find(entry.key);
    const StringRef named = field ? schema::argument(field->type, "named") : StringRef();
    const kube::Field *kubeMember = !field && open && entry.name.empty() ? open->find(entry.key) : nullptr;
    if ((!field && !kubeMember && !(rest && !open)) || (!entry.name.empty() && named.empty())) {
      llvm::SmallVector<StringRef, 64> candidates;
      for (const schema::Field &candidate : shape.fields)
        if (candidate.name != "*") candidates.push_back(candidate.name);
      if (open)
        for (const kube::Field &candidate : open->fields)
          candidates.push_back(candidate.name);
      unknownField(entry, title, candidates, open ? open->name : StringRef());
      continue;
    }
    if (entry.value.isNull()) continue; // unset: the default holds
    Entry made = entry;
    const bool failedBefore = failed_;
    failed_ = false;
    if (kubeMember) {
      made.value = kubeField(entry, *kubeMember, *open);
    } else if (!named.empty()) {
      if (!entry.value.is(ValueKind::Block)) {
        made.value = converted(entry.value, Type::block, entry.range, "`" + entry.key.str() + "`");
      } else {
        if (!entry.name.empty()) {
          const bool quoted = compilation_.sources.text(entry.nameRange).startswith("\"");
          made.name = save(kubeName(entry.name, quoted));
          if (!dnsLabel(made.name, entry.nameRange, "group")) failed_ = true;
          for (const Entry &other : entries)
            if (other.key == entry.key && other.name == made.name)
              error(entry.nameRange, diag::NameClash{.name = entry.name, .kubeName = made.name});
        } else if (named == "group") {
          error(entry.keyRange, diag::GroupWithoutName{});
          failed_ = true;
          continue; // what is meant is unknown: its fields are not judged
        }
        made.value = block(*schema::find(named), entry.value.asBlock(), entry.nameRange.valid() ? entry.nameRange : entry.keyRange, isAbstract);
      }
    } else if (field && (field->name == "labels" || field->name == "annotations")) {
      made.value = labels(entry.value, entry.range, "`" + entry.key.str() + "`", field->name == "annotations");
    } else {
      mayRemoveEnv_ = shape.name == "job" && value.find("trainer");
      made.value = typed(entry.value, (field ? field : rest)->type, entry.range, "`" + entry.key.str() + "`", isAbstract);
    }
    failed_ |= made.value.isPoison(); // reported where it was declared
    if (failed_ && entry.range.valid() && !entry.value.is(ValueKind::Block)) bad_.insert(key);
    failed_ |= failedBefore;
    if (!made.value.isPoison()) entries.push_back(made);
  }
  // What is missing is told only when nothing else is wrong with its name: a misspelt field is one mistake, not two.
  if (!isAbstract && !failed_)
    for (const schema::Field &field : shape.fields)
      if (field.required && llvm::none_of(entries, [&](const Entry &entry) { return entry.key == field.name; }))
        error(at, diag::MissingField{.block = title, .field = field.name, .help = field.help});
  BlockValue *body = arena_.make<BlockValue>(value);
  body->entries = arena_.copy<Entry>(entries);
  Value result = Value::block(body);
  if (open && !failed_) kubeObjectRules(*body, *open, at, "`" + title.str() + "`");
  if (!isAbstract && shape.isKind) result = kindRules(shape, *body, at);
  if (shape.name == "resources") result = resources(*body, at);
  if (shape.name == "split")
    if (const Entry *test = body->find("test"); test && (test->value.asFloat() <= 0 || test->value.asFloat() >= 1))
      error(test->range, diag::SplitFraction{.value = floatText(test->value.asFloat())});
  const bool bad = failed_;
  failed_ |= outerFailed;
  return bad ? Value::poison() : result;
}

Value Checker::kindRules(const schema::Block &shape, const BlockValue &body, SourceRange at) {
  // Rules look at what is there and sound; a field that failed above is as absent, and nobody is told twice about it.
  const bool whole = !failed_;
  if (shape.name == "dataset") datasetRules(body, at);
  else if (shape.name == "model") modelRules(body, at);
  else if (shape.name == "trainer" && whole) trainerRules(body, at);
  else if (shape.name == "runtime" && whole) runtimeRules(body, at);
  else if (shape.name == "job" && whole) jobRules(body, at);
  return Value::block(&body);
}

Value Checker::typed(const Value &value, StringRef type, SourceRange at, const std::string &what, bool isAbstract) {
  if (value.isPoison()) return value;
  if (type == "env") return env(value, at, what);
  if (type == "secret") return secret(value, at, what);
  if (type == "list<tag<layer>>") {
    static const Type any = {.kind = Type::Kind::List, .element = &Type::any};
    const Value list = converted(value, any, at, what);
    if (list.isPoison()) return list;
    llvm::SmallVector<Item, 16> items;
    bool bad = false;
    for (const Item &item : list.asList()) {
      items.push_back({spec("layer", item.value, item.range, "a layer"), item.range});
      bad |= items.back().value.isPoison();
    }
    return bad ? Value::poison() : Value::list(arena_.copy<Item>(items));
  }
  if (StringRef tag = schema::argument(type, "tag"); !tag.empty()) return spec(tag, value, at, what);
  if (StringRef name = schema::argument(type, "one_of"); !name.empty()) return oneOf(*schema::find(name), value, at, what);
  if (StringRef name = schema::argument(type, "kube"); !name.empty()) {
    if (name == "DependsOn") return kube(value, *kube::find("ReplicatedJob")->find("dependsOn")->type, at, what, "ReplicatedJob", "dependsOn");
    return kube(value, *kube::find(name == "JaxPolicy" || name == "XgboostPolicy" || name == "PlainPolicy" ? "Empty" : name), at, what, name, "");
  }
  if (StringRef kind = schema::argument(type, "ref"); !kind.empty()) {
    Type wanted{Type::Kind::Ref};
    wanted.name = kind;
    const Value given = converted(value, wanted, at, what);
    if (given.isPoison()) return given;
    if (given.is(ValueKind::Ref)) {
      const Decl &decl = given.asRef();
      // A body that failed was told about where it is declared.
      if (decl.body.isPoison()) return Value::poison();
      if (!decl.isAbstract) return given;
      return block(*schema::find(kind), decl.raw.asBlock(), at, isAbstract);
    }
    return block(*schema::find(kind), given.asBlock(), at, isAbstract);
  }
  if (StringRef kind = schema::argument(type, "decl"); !kind.empty()) {
    if (value.is(ValueKind::Block)) {
      error(at, diag::DeclarationWanted{.what = what, .kind = kind});
      return Value::poison();
    }
    Type wanted{Type::Kind::Ref};
    wanted.name = kind;
    const Value given = converted(value, wanted, at, what);
    if (given.is(ValueKind::Ref)) {
      if (given.asRef().body.isPoison()) return Value::poison();
      if (given.asRef().isAbstract) {
        error(at, diag::AbstractUsed{.name = given.asRef().name});
        return Value::poison();
      }
    }
    return given;
  }
  // `int >= 0 | block<retries>`: a block goes to the block, the rest to the rest.
  const size_t bar = type.find(" | block<");
  const StringRef inner = schema::argument(bar == StringRef::npos ? type : type.substr(bar + 3), "block");
  if (!inner.empty() && value.is(ValueKind::Block)) return block(*schema::find(inner), value.asBlock(), at, isAbstract);
  if (!inner.empty() && bar == StringRef::npos) {
    // What has to be in the block says how it is written.
    const schema::Block &shape = *schema::find(inner);
    const auto needed = llvm::find_if(shape.fields, [](const schema::Field &field) { return field.required; });
    if (needed != shape.fields.end()) return blockWanted(value, at, what, StringRef(what).trim('`').str() + " { " + needed->name.str() + " = … }");
  }
  if (!inner.empty()) return converted(value, bar == StringRef::npos ? Type::block : notation(type.substr(0, bar)), at, what);
  return converted(value, notation(type), at, what);
}

Value Checker::secret(const Value &value, SourceRange at, const std::string &what) {
  if (value.is(ValueKind::Source) && value.asSource().kind == Source::Kind::Secret) {
    const Source &source = value.asSource();
    if (!source.key.empty()) {
      error(at, diag::WholeSecret{.what = what, .name = source.name});
      return Value::poison();
    }
    return dnsSubdomain(source.name, at, "secret") ? value : Value::poison();
  }
  if (value.is(ValueKind::String) || value.is(ValueKind::Source)) {
    error(at, diag::SecretWanted{.what = what, .found = value.is(ValueKind::String) ? "text" : "no secret"});
    return Value::poison();
  }
  return converted(value, secretType(), at, what);
}

Value Checker::oneOf(const schema::Block &shape, const Value &value, SourceRange at, const std::string &what) {
  llvm::SmallVector<StringRef, 8> members;
  for (const schema::Field &field : shape.fields)
    members.push_back(field.name);
  if (value.is(ValueKind::Block)) {
    const BlockValue &given = value.asBlock();
    const auto count = llvm::count_if(given.entries, [](const Entry &entry) { return !entry.value.isNull(); });
    if (count != 1) {
      const std::string names = listing(members);
      error(at, diag::ExactlyOneMember{.what = what, .count = std::to_string(count), .members = names});
      return Value::poison();
    }
    return block(shape, given, at, false);
  }
  Type choice{Type::Kind::Choice};
  choice.strings = members;
  const Value name = converted(value, choice, at, what);
  if (name.isPoison()) return name;
  return blockOf(entryOf(name.asString(), blockOf({}, at), at), at);
}

// `{ layer = "dense", units = 10 }`. The result has every argument, defaults included, and only known ones.
Value Checker::spec(StringRef tag, const Value &value, SourceRange at, const std::string &what) {
  if (value.isPoison()) return value;
  const Entry *head = value.is(ValueKind::Block) ? value.asBlock().find(tag) : nullptr;
  if (!head || !head->value.is(ValueKind::String)) {
    const std::string example = specExample(tag, value.is(ValueKind::String) ? value.asString() : StringRef());
    const std::string found = describe(value), one = (tag == "optimizer" ? "an " : "a ") + tag.str();
    error(at, diag::SpecWanted{.what = what, .found = found, .tag = one, .example = example});
    return Value::poison();
  }
  const native::Spec *known = native::find(tag, head->value.asString());
  if (!known) {
    failed_ = true;
    if (once<diag::UnknownNativeSpec>(at)) {
      llvm::SmallVector<StringRef, 8> names;
      for (const native::Spec &candidate : native::specs())
        if (candidate.tag == tag) names.push_back(candidate.name);
      auto report = diags_.report(at, diag::UnknownNativeSpec{.tag = tag, .name = head->value.asString()});
      StringRef near = nearestName(head->value.asString(), names);
      if (!near.empty()) report.note(diag::DidYouMean{.name = near});
    }
    return Value::poison();
  }
  llvm::SmallVector<Entry, 8> entries;
  entries.push_back(*head);
  bool bad = false;
  for (const Entry &entry : value.asBlock().entries) {
    if (&entry == head || entry.value.isNull()) continue;
    const native::Argument *argument = nullptr;
    for (const native::Argument &candidate : native::arguments(*known))
      if (candidate.name == entry.key) argument = &candidate;
    if (!argument) {
      bad = failed_ = true;
      const SourceRange place = entry.keyRange.valid() && entry.keyRange.file == at.file ? entry.keyRange : at;
      if (!once<diag::UnknownArgument>(place)) continue;
      llvm::SmallVector<StringRef, 8> names;
      for (const native::Argument &candidate : native::arguments(*known)) names.push_back(candidate.name);
      auto report = diags_.report(place, diag::UnknownArgument{.tag = tag, .spec = known->name, .name = entry.key});
      if (StringRef near = nearestName(entry.key, names); !near.empty()) report.note(diag::DidYouMean{.name = near});
      continue;
    }
    Entry made = entry;
    // The call in the user's file is the place, not the function's text in the standard library.
    const SourceRange place = entry.range.valid() && entry.range.file == at.file ? entry.range : at;
    made.value = converted(entry.value, notation(argument->type), place, "`" + entry.key.str() + "` of `" + known->name.str() + "`");
    bad |= made.value.isPoison();
    entries.push_back(made);
  }
  for (const native::Argument &argument : native::arguments(*known))
    if (argument.defaultText.empty() && llvm::none_of(entries, [&](const Entry &e) { return e.key == argument.name; })) {
      const std::string place = (tag + " `" + known->name + "`").str();
      error(at, diag::MissingArgument{.what = place, .name = argument.name});
      bad = true;
    }
  BlockValue *body = arena_.make<BlockValue>(value.asBlock());
  body->entries = arena_.copy<Entry>(entries);
  return bad ? Value::poison() : Value::block(body);
}

const BlockValue *Checker::resolve(const BlockValue &owner, StringRef field, StringRef) {
  const Entry *entry = owner.find(field);
  if (!entry) return nullptr;
  const Value *value = &entry->value;
  if (value->is(ValueKind::Ref)) value = &value->asRef().body;
  return value->is(ValueKind::Block) ? &value->asBlock() : nullptr;
}

namespace {

// Reads the notation of schema.def as far as it names plain types.
struct NotationReader {
  StringRef text;
  Arena &arena;

  bool eat(StringRef token) {
    text = text.ltrim(' ');
    return text.consume_front(token);
  }

  StringRef word() {
    text = text.ltrim(' ');
    StringRef found = text.take_while([](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
    text = text.drop_front(found.size());
    return found;
  }

  Value bound(Type::Kind kind) {
    text = text.ltrim(' ');
    StringRef digits = text.take_while([](char c) { return (c >= '0' && c <= '9') || c == '-'; });
    text = text.drop_front(digits.size());
    int64_t number = 0;
    digits.getAsInteger(10, number);
    if (kind == Type::Kind::Duration) {
      eat("s");
      return Value::duration(number * 1000);
    }
    return kind == Type::Kind::Float ? Value::number(static_cast<double>(number)) : Value::integer(number);
  }

  const Type *read() {
    llvm::SmallVector<StringRef, 8> strings;
    llvm::SmallVector<const Type *, 4> others;
    do {
      if (eat("\"")) {
        const size_t end = text.find('"');
        strings.push_back(text.take_front(end));
        text = text.drop_front(end + 1);
      } else {
        others.push_back(one());
      }
    } while (eat("|"));
    if (strings.empty() && others.size() == 1) return others[0];
    Type made{Type::Kind::Choice};
    made.strings = arena.copy<StringRef>(strings);
    made.others = arena.copy<const Type *>(others);
    return arena.make<Type>(made);
  }

  const Type *one() {
    const StringRef name = word();
    Type made;
    if (name == "bool") made.kind = Type::Kind::Bool;
    else if (name == "int") made.kind = Type::Kind::Int;
    else if (name == "float") made.kind = Type::Kind::Float;
    else if (name == "string" || name == "name") made.kind = Type::Kind::String;
    else if (name == "amount") made.kind = Type::Kind::Amount;
    else if (name == "duration") made.kind = Type::Kind::Duration;
    else if (name == "list" || name == "map") {
      made.kind = name == "list" ? Type::Kind::List : Type::Kind::Map;
      eat("<");
      made.element = read();
      eat(">");
      return arena.make<Type>(made);
    }
    if (eat(">=")) made.min = bound(made.kind);
    else if (text.ltrim(' ').startswith("> ")) eat(">"), made.min = bound(made.kind), made.above = true;
    else if (text.ltrim(' ').startswith("in ")) {
      eat("in");
      made.min = bound(made.kind);
      eat("..");
      made.max = bound(made.kind);
    }
    return arena.make<Type>(made);
  }
};

} // namespace

const Type &Checker::notation(StringRef text) {
  const Type *&type = notations_[text];
  if (!type) type = NotationReader{text, arena_}.read();
  return *type;
}

} // namespace kft::sema
