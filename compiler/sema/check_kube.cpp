// Parts of a runtime or patch that are fields of Kubernetes under their own names: judged by the published schema, and by
// what the pod and job validation of a cluster adds to it (ids K… of its rules). Keyed lists that are written as blocks
// become the lists that they stand for.
#include "compiler/sema/check_rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace kft::sema {
namespace {

// What the published schema leaves to later validation. `owner` is the object, `field` its member.
struct Choices {
  StringRef owner, field, rule, values; // joined by |
};
constexpr Choices ChoiceRules[] = {
    {"PodSpec", "restartPolicy", "K006", "Never|OnFailure"},
    {"PodSpec", "dnsPolicy", "K095", "ClusterFirst|ClusterFirstWithHostNet|Default|None"},
    {"PodSpec", "preemptionPolicy", "K093", "PreemptLowerPriority|Never"},
    {"Container", "imagePullPolicy", "K031", "Always|IfNotPresent|Never"},
    {"Container", "terminationMessagePolicy", "K032", "File|FallbackToLogsOnError"},
    {"Container", "restartPolicy", "K033", "Always|OnFailure|Never"},
    {"PortsItem", "protocol", "K046", "TCP|UDP|SCTP"},
    {"VolumeMountsItem", "mountPropagation", "K048", "None|HostToContainer|Bidirectional"},
    {"VolumeMountsItem", "recursiveReadOnly", "K049", "Disabled|IfPossible|Enabled"},
    {"HostPath", "type", "K051", "|Directory|DirectoryOrCreate|File|FileOrCreate|Socket|CharDevice|BlockDevice"},
    {"HttpGet", "scheme", "K073", "HTTP|HTTPS"},
    {"JobSpec", "completionMode", "K013", "Indexed|NonIndexed"},
    {"JobSpec", "podReplacementPolicy", "K021", "Failed|TerminatingOrFailed"},
    {"OnExitCodes", "operator", "K017", "In|NotIn"},
    {"AppArmorProfile", "type", "K079", "RuntimeDefault|Unconfined|Localhost"},
    {"SecurityContext2", "fsGroupChangePolicy", "K082", "OnRootMismatch|Always"},
    {"SecurityContext2", "supplementalGroupsPolicy", "K082", "Merge|Strict"},
    {"TolerationsItem", "operator", "K085", "Equal|Exists"},
    {"TolerationsItem", "effect", "K086", "|NoSchedule|PreferNoSchedule|NoExecute"},
    {"TopologySpreadConstraintsItem", "whenUnsatisfiable", "K091", "DoNotSchedule|ScheduleAnyway"},
    {"TopologySpreadConstraintsItem", "nodeAffinityPolicy", "K091", "Honor|Ignore"},
    {"TopologySpreadConstraintsItem", "nodeTaintsPolicy", "K091", "Honor|Ignore"},
};

struct Range {
  StringRef owner, field, rule;
  int64_t min, max;
};
constexpr int64_t Large = INT64_MAX, Large32 = INT32_MAX;
constexpr Range RangeRules[] = {
    {"PortsItem", "containerPort", "K007", 1, 65535},
    {"PortsItem", "hostPort", "K045", 0, 65535},
    {"JobSpec", "backoffLimit", "K010", 0, Large32},
    {"JobSpec", "activeDeadlineSeconds", "K010", 0, Large},
    {"JobSpec", "ttlSecondsAfterFinished", "K010", 0, Large32},
    {"JobSpec", "backoffLimitPerIndex", "K010", 0, Large32},
    {"JobSpec", "maxFailedIndexes", "K010", 0, Large32},
    {"JobSpec", "parallelism", "K008", 0, 100000},
    {"JobSpec", "completions", "K008", 0, Large32},
    {"FailurePolicy", "maxRestarts", "J024", 0, Large32},
    {"PodSpec", "activeDeadlineSeconds", "K096", 1, Large32},
    {"PodSpec", "terminationGracePeriodSeconds", "K096", 0, Large},
    {"SecurityContext", "runAsUser", "K077", 0, Large32},
    {"SecurityContext", "runAsGroup", "K077", 0, Large32},
    {"SecurityContext2", "runAsUser", "K077", 0, Large32},
    {"SecurityContext2", "runAsGroup", "K077", 0, Large32},
    {"SecurityContext2", "fsGroup", "K077", 0, Large32},
    {"TopologySpreadConstraintsItem", "maxSkew", "K091", 1, Large32},
    {"TopologySpreadConstraintsItem", "minDomains", "K091", 1, Large32},
    {"LivenessProbe", "initialDelaySeconds", "K072", 0, Large32},
    {"LivenessProbe", "periodSeconds", "K072", 0, Large32},
    {"LivenessProbe", "timeoutSeconds", "K072", 0, Large32},
    {"LivenessProbe", "successThreshold", "K072", 0, Large32},
    {"LivenessProbe", "failureThreshold", "K072", 0, Large32},
    {"ServiceAccountToken", "expirationSeconds", "K059", 600, int64_t{1} << 32},
};

// Lists whose keys are names of Kubernetes: `_` in them is `-`.
bool keysAreNames(StringRef field) {
  constexpr StringRef fields[] = {"containers", "initContainers", "ephemeralContainers", "volumes", "dependsOn", "resourceClaims"};
  return llvm::is_contained(fields, field);
}

// What a scalar stands for in a block that is written for a list.
StringRef shorthand(StringRef field) {
  if (field == "volumeMounts") return "name";
  if (field == "ports") return "containerPort";
  if (field == "dependsOn") return "status";
  return {};
}

std::string keyText(const BlockValue &item, const kube::Type &list) {
  std::string key;
  for (StringRef member : list.keys) {
    const Entry *entry = item.find(member);
    if (entry) key += show(entry->value);
    else if (member == "protocol") key += "\"TCP\"";
    else return {};
    key += '\n';
  }
  return key;
}

} // namespace

Value Checker::kubeField(const Entry &entry, const kube::Field &field, const kube::Type &owner) {
  const std::string what = "`" + field.name.str() + "`";
  // What is missing in a block is told at the word in front of it.
  Value value = field.type->shape == kube::Shape::Object && entry.value.is(ValueKind::Block)
                    ? kubeObject(entry.value.asBlock(), *field.type, entry.keyRange.valid() ? entry.keyRange : entry.range, what)
                    : kube(entry.value, *field.type, entry.range, what, owner.name, field.name);
  if (value.isPoison()) return value;
  // A pod, a job or a mount whose fields are patched is judged as what it will be part of.
  const StringRef judged = owner.name == "PodPatch" ? "PodSpec" : owner.name == "ContainerPatch" ? "Container" : owner.name;
  for (const Choices &rule : ChoiceRules) {
    if (rule.owner != judged || rule.field != field.name || !value.is(ValueKind::String)) continue;
    llvm::SmallVector<StringRef, 8> values;
    rule.values.split(values, '|');
    Type choice{Type::Kind::Choice};
    choice.strings = values;
    value = converted(value, choice, entry.range, what);
  }
  for (const Range &rule : RangeRules) {
    if (rule.owner != judged || rule.field != field.name || !value.is(ValueKind::Int)) continue;
    Type range{Type::Kind::Int};
    range.min = Value::integer(rule.min);
    if (rule.max != Large) range.max = Value::integer(rule.max);
    value = converted(value, range, entry.range, what);
  }
  if (field.name == "defaultMode" || field.name == "mode")
    if (value.is(ValueKind::Int)) {
      Type range{Type::Kind::Int};
      range.min = Value::integer(0);
      range.max = Value::integer(0777);
      value = converted(value, range, entry.range, what);
    }
  return value;
}

Value Checker::kube(const Value &value, const kube::Type &type, SourceRange at, const std::string &what, StringRef owner, StringRef field) {
  if (value.isPoison()) return value;
  switch (type.shape) {
  case kube::Shape::Object: {
    // `secretRef = secret("hub")` says the same as `secretRef { name = "hub" }`.
    if (value.is(ValueKind::Source)) {
      const Source &source = value.asSource();
      const bool isSecret = source.kind == Source::Kind::Secret, isConfig = source.kind == Source::Kind::Config;
      const bool fits = (isSecret && (field.startswith("secret") || field == "imagePullSecrets" || field.endswith("SecretRef"))) || (isConfig && field.startswith("configMap"));
      if (fits && type.find("name") && (type.find("key") != nullptr) == !source.key.empty()) {
        llvm::SmallVector<Entry, 2> entries{entryOf("name", Value::string(source.name), at)};
        if (!source.key.empty()) entries.push_back(entryOf("key", Value::string(source.key), at));
        return blockOf(entries, at);
      }
      if (field == "valueFrom") return valueFrom(source, at);
    }
    const Value given = converted(value, Type::block, at, what);
    return given.isPoison() ? given : kubeObject(given.asBlock(), type, at, what);
  }
  case kube::Shape::List: return kubeList(value, type, at, what, owner, field);
  case kube::Shape::Map: {
    // Containers and pods can have claims on devices; what has none is the size of a volume.
    if (const kube::Type *object = kube::find(owner); (field == "limits" || field == "requests") && object && object->find("claims")) return resourceMap(value, at, what);
    if (field == "labels" || field == "matchLabels" || field == "nodeSelector" || field == "annotations") return labels(value, at, what, field == "annotations");
    Type map{Type::Kind::Map};
    map.element = type.element->shape == kube::Shape::Quantity ? &Type::amount : &Type::string;
    return converted(value, map, at, what);
  }
  case kube::Shape::Bool: return converted(value, Type::boolean, at, what);
  case kube::Shape::Int: {
    Type range{Type::Kind::Int};
    if (type.min != INT64_MIN) range.min = Value::integer(type.min);
    if (type.max != INT64_MAX) range.max = Value::integer(type.max);
    return converted(value, range, at, what);
  }
  case kube::Shape::Float: return converted(value, Type::number, at, what);
  case kube::Shape::Quantity: return converted(value, Type::amount, at, what);
  case kube::Shape::IntOrString: {
    if (value.is(ValueKind::String)) return value;
    Type port{Type::Kind::Int};
    port.min = Value::integer(field == "port" ? 1 : INT32_MIN);
    port.max = Value::integer(field == "port" ? 65535 : INT32_MAX);
    return converted(value, port, at, what);
  }
  case kube::Shape::Time:
  case kube::Shape::String: {
    if (!type.choices.empty()) {
      Type choice{Type::Kind::Choice};
      choice.strings = ArrayRef<StringRef>(type.choices.data(), type.choices.size());
      return converted(value, choice, at, what);
    }
    const Value text = converted(value, Type::string, at, what);
    if (!text.isPoison()) length(text, type, at, what);
    return text;
  }
  }
  return value;
}

void Checker::length(const Value &value, const kube::Type &type, SourceRange at, const std::string &what) {
  const bool isList = value.is(ValueKind::List);
  int64_t size = 0;
  if (isList) size = static_cast<int64_t>(value.asList().size());
  else
    for (char c : value.asString())
      size += (static_cast<unsigned char>(c) & 0xC0) != 0x80; // the schema counts characters, not bytes
  std::string rule;
  if (type.hasMin && size < type.min) rule = "at least " + std::to_string(type.min);
  if (type.hasMax && size > type.max) rule = "at most " + std::to_string(type.max);
  if (rule.empty()) return;
  error(at, diag::LengthBound{.what = what, .size = std::to_string(size), .unit = isList ? "items" : "characters", .rule = rule});
}

Value Checker::labels(const Value &value, SourceRange at, const std::string &what, bool areAnnotations) {
  Type map{Type::Kind::Map};
  map.element = &Type::string;
  const Value given = converted(value, map, at, what);
  if (given.isPoison()) return given;
  llvm::SmallVector<Entry, 8> entries;
  bool good = true;
  for (const Entry &entry : given.asBlock().entries) {
    if (entry.value.isNull()) continue;
    good &= labelKey(entry.key, entry.keyRange);
    if (!areAnnotations) good &= labelValue(entry.value.asString(), entry.range, "`" + entry.key.str() + "`");
    entries.push_back(entry);
  }
  if (!good) return Value::poison();
  return blockOf(entries, given.asBlock().range);
}

Value Checker::kubeObject(const BlockValue &value, const kube::Type &type, SourceRange at, const std::string &what) {
  llvm::SmallVector<Entry, 16> entries;
  bool bad = false;
  for (const Entry &entry : value.entries) {
    if (entry.value.isPoison()) {
      bad = true;
      continue;
    }
    const kube::Field *field = entry.name.empty() ? type.find(entry.key) : nullptr;
    if (!field) {
      llvm::SmallVector<StringRef, 32> names;
      for (const kube::Field &candidate : type.fields)
        names.push_back(candidate.name);
      StringRef title = what;
      title.consume_front("`");
      unknownField(entry, title.take_until([](char c) { return c == '`'; }), names, type.name);
      bad = true;
      continue;
    }
    if (entry.value.isNull()) continue;
    Entry made = entry;
    made.value = kubeField(entry, *field, type);
    bad |= made.value.isPoison();
    entries.push_back(made);
  }
  if (bad) return Value::poison();
  for (const kube::Field &field : type.fields)
    if (field.required && llvm::none_of(entries, [&](const Entry &entry) { return entry.key == field.name; })) {
      StringRef title = what;
      title.consume_front("`");
      error(at, diag::MissingKubeField{.block = title.take_until([](char c) { return c == '`'; }), .field = field.name});
      bad = true;
    }
  const Value result = blockOf(entries, value.range);
  if (!bad) kubeObjectRules(result.asBlock(), type, at, what);
  return bad ? Value::poison() : result;
}

Value Checker::kubeList(const Value &value, const kube::Type &type, SourceRange at, const std::string &what, StringRef owner, StringRef field) {
  const StringRef key = type.blockKey();
  llvm::SmallVector<Item, 16> items;
  bool bad = false;
  if (value.is(ValueKind::Block) && !key.empty()) {
    for (const Entry &entry : value.asBlock().entries) {
      if (entry.value.isPoison()) {
        bad = true;
        continue;
      }
      if (!entry.name.empty()) {
        unknownField(entry, field, {});
        bad = true;
        continue;
      }
      if (field == "env") {
        if (entry.value.isNull() && entry.removes) continue;
        const Value text = envValue(entry);
        if (!envName(entry.key, entry.keyRange) || text.isPoison()) {
          bad = true;
          continue;
        }
        llvm::SmallVector<Entry, 4> members{entryOf("name", Value::string(entry.key), entry.keyRange)};
        if (text.is(ValueKind::Source)) members.push_back(entryOf("valueFrom", valueFrom(text.asSource(), entry.range), entry.range));
        else if (text.is(ValueKind::Block)) members.append(text.asBlock().entries.begin(), text.asBlock().entries.end());
        else members.push_back(entryOf("value", text, entry.range));
        items.push_back({blockOf(members, entry.range), entry.range});
        continue;
      }
      if (entry.value.isNull()) continue;
      const StringRef name = keysAreNames(field) ? save(kubeName(entry.key, entry.quoted)) : entry.key;
      if (keysAreNames(field)) {
        for (const Item &other : items)
          if (textOf(other.value.asBlock(), key) == name) {
            error(entry.keyRange, diag::NameClash{.name = entry.key, .kubeName = name});
            bad = true;
          }
        if (!dnsLabel(name, entry.keyRange, field == "volumes" ? "volume" : field == "dependsOn" ? "group" : "container")) bad = true;
      }
      Value item = entry.value;
      const std::string place = "`" + entry.key.str() + "`";
      const StringRef shortFor = shorthand(field);
      if (!item.is(ValueKind::Block) && !shortFor.empty()) {
        const kube::Field &member = *type.element->find(shortFor);
        const Value scalar = kubeField(entryOf(shortFor, item, entry.range), member, *type.element);
        if (scalar.isPoison()) {
          bad = true;
          continue;
        }
        item = blockOf(entryOf(shortFor, scalar, entry.range), entry.range);
      }
      const Value given = converted(item, Type::block, entry.range, place);
      if (given.isPoison()) {
        bad = true;
        continue;
      }
      if (const Entry *twice = given.asBlock().find(key); twice && twice->value.is(ValueKind::String) && twice->value.asString() != name) {
        error(twice->range, diag::BothGiven{.first = entry.key, .second = key});
        bad = true;
        continue;
      }
      llvm::SmallVector<Entry, 8> members{entryOf(key, Value::string(name), entry.keyRange)};
      for (const Entry &member : given.asBlock().entries)
        if (member.key != key) members.push_back(member);
      const Value made = kubeObject(*arena_.make<BlockValue>(BlockValue{arena_.copy<Entry>(members), entry.range, nullptr}), *type.element, entry.keyRange, place);
      if (made.isPoison()) bad = true;
      else items.push_back({made, entry.range});
    }
  } else {
    Type list{Type::Kind::List};
    list.element = &Type::any;
    const Value given = converted(value, list, at, what);
    if (given.isPoison()) return given;
    size_t number = 0;
    SourceRange wrong;
    for (const Item &item : given.asList()) {
      ++number;
      const SourceRange place = item.range.valid() ? item.range : at;
      if (bad && place == wrong) continue; // one expression made both, and it was told
      std::string name = "item " + std::to_string(number) + " of " + what;
      if (type.element->shape == kube::Shape::Object) name = "`" + (field.empty() ? owner : field).str() + "`";
      Value made = kube(item.value, *type.element, place, name, owner, field);
      if (made.isPoison()) {
        bad = true;
        wrong = place;
        continue;
      }
      if (field == "env" && made.is(ValueKind::Block)) {
        bad |= !envName(textOf(made.asBlock(), "name"), place);
      } else if (keysAreNames(field) && key == "name" && made.is(ValueKind::Block)) {
        const Entry *named = made.asBlock().find("name");
        bad |= !dnsLabel(named->value.asString(), named->range, field == "volumes" ? "volume" : field == "dependsOn" ? "group" : "container");
      }
      items.push_back({made, item.range});
    }
  }
  if (bad) return Value::poison();
  // No two items with one key. The server merges by it, and refuses what it cannot tell apart.
  auto duplicates = [&](ArrayRef<StringRef> keys, bool isPatchedMount) {
    llvm::StringMap<SourceRange> seen;
    for (const Item &item : items) {
      kube::Type by = type;
      by.keys = {keys.data(), keys.size()};
      const std::string text = keyText(item.value.asBlock(), by);
      if (text.empty()) continue;
      auto [first, isNew] = seen.try_emplace(text, item.range);
      if (isNew) continue;
      const Entry *entry = item.value.asBlock().find(keys[0]);
      const SourceRange place = entry ? entry->range : item.range;
      bad = failed_ = true;
      const std::string shown = entry && entry->value.is(ValueKind::String) ? entry->value.asString().str() : entry ? show(entry->value) : "";
      if (isPatchedMount) {
        if (once<diag::VolumePatchedTwice>(place))
          diags_.report(place, diag::VolumePatchedTwice{.volume = shown}).note(first->second, diag::FirstGivenHere{}).rule("V061");
      } else if (once<diag::DuplicateKey>(place)) {
        diags_.report(place, diag::DuplicateKey{.key = shown, .member = keys[0]}).note(first->second, diag::FirstGivenHere{});
      }
    }
  };
  if (!type.keys.empty()) duplicates(ArrayRef<StringRef>(type.keys.data(), type.keys.size()), field == "volumeMounts" && type.keys[0] == "name");
  if (field == "volumeMounts" && type.keys[0] == "name") duplicates({"mountPath"}, false);
  if (field == "ports" && !bad) duplicates({"name"}, false);
  const Value result = Value::list(arena_.copy<Item>(items));
  length(result, type, at, what);
  return bad ? Value::poison() : result;
}

void Checker::kubeObjectRules(const BlockValue &body, const kube::Type &type, SourceRange at, const std::string &what) {
  auto count = [&](std::initializer_list<StringRef> names) {
    size_t n = 0;
    for (StringRef name : names)
      n += body.find(name) != nullptr;
    return n;
  };
  if (type.name == "Volume") {
    llvm::SmallVector<StringRef, 4> sources;
    for (const Entry &entry : body.entries)
      if (entry.key != "name") sources.push_back(entry.key);
    if (sources.size() > 1) error(body.find(sources[1])->keyRange, diag::TwoSources{.volume = textOf(body, "name"), .sources = listing(sources)});
    return;
  }
  if (type.name == "LivenessProbe") {
    if (count({"exec", "httpGet", "tcpSocket", "grpc"}) != 1)
      error(at, diag::ExactlyOneMember{.what = what, .count = std::to_string(count({"exec", "httpGet", "tcpSocket", "grpc"})), .members = "`exec`, `httpGet`, `tcpSocket` and `grpc`"});
    return;
  }
  if (type.name == "EnvItem" || type.name == "EnvFromItem") {
    if (type.name == "EnvItem" ? count({"value", "valueFrom"}) > 1 : count({"configMapRef", "secretRef"}) != 1)
      error(at, diag::ExactlyOneMember{.what = what,
                                       .count = std::to_string(type.name == "EnvItem" ? 2 : count({"configMapRef", "secretRef"})),
                                       .members = type.name == "EnvItem" ? "`value` and `valueFrom`" : "`configMapRef` and `secretRef`"});
    return;
  }
  if (type.name == "TolerationsItem") {
    const StringRef op = textOf(body, "operator");
    if (op == "Exists" && body.find("value"))
      error(body.find("value")->range, diag::TolerationValue{});
    if (op != "Exists" && textOf(body, "key").empty()) error(at, diag::TolerationKey{});
    if (const Entry *seconds = body.find("tolerationSeconds"); seconds && textOf(body, "effect") != "NoExecute") error(seconds->keyRange, diag::TolerationSeconds{});
    return;
  }
  if (type.name == "Container" || type.name == "ContainerPatch") {
    if (const Entry *image = body.find("image"); image && image->value.asString() != image->value.asString().trim())
      error(image->range, diag::PaddedImage{});
    if (const BlockValue *resources = blockAt(body, "resources")) resourcePair(blockAt(*resources, "limits"), blockAt(*resources, "requests"), true);
    commandRules(body);
    return;
  }
  if (type.name == "JobSpec") {
    if (const Entry *selector = body.find("selector"); selector && !(body.find("manualSelector") && body.find("manualSelector")->value.asBool()))
      error(selector->keyRange, diag::JobSelector{});
    return;
  }
  if (type.name == "PodSpec" && body.find("ephemeralContainers")) error(body.find("ephemeralContainers")->keyRange, diag::EphemeralContainers{});
}

} // namespace kft::sema
