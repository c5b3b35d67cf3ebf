// Environment entries: their names, that their values are texts or sources, and that no text in a file is a credential.
#include "compiler/sema/check_rules.h"

#include "llvm/ADT/StringExtras.h"

namespace kft::sema {
namespace {

// A name whose value people keep secret.
bool namedLikeSecret(StringRef name) {
  const std::string upper = name.upper();
  const StringRef text = upper;
  if (text.contains("SECRET") || text.contains("PASSWORD") || text.contains("PASSWD") || text.contains("CREDENTIAL")) return true;
  if (text == "TOKEN" || text.endswith("_TOKEN") || text.endswith("AUTHTOKEN") || text.endswith("APITOKEN")) return true;
  return text == "KEY" || text.endswith("_KEY") || text.endswith("APIKEY");
}

// Values that such a name may have in plain sight: nothing, a switch, a number, a file, a variable that somebody else fills.
bool isHarmless(StringRef value) {
  double ignored;
  return value.empty() || value == "true" || value == "false" || value == "none" || value.startswith("/") || value.startswith("./") || value.startswith("~/") ||
         value.startswith("$") || value.startswith("file:") || !value.getAsDouble(ignored);
}

bool allOf(StringRef text, size_t least, bool dashes = true) {
  size_t n = 0;
  for (char c : text) {
    if (!llvm::isAlnum(c) && !(dashes && (c == '-' || c == '_'))) break;
    ++n;
  }
  return n >= least;
}

// The shapes in which services hand out credentials.
bool shapedLikeSecret(StringRef value) {
  struct Shape {
    StringRef prefix;
    size_t rest;
  };
  constexpr Shape shapes[] = {{"hf_", 10},       {"ghp_", 20},  {"gho_", 20},  {"ghu_", 20},  {"ghs_", 20},  {"ghr_", 20}, {"github_pat_", 20}, {"glpat-", 15},
                              {"sk-", 20},       {"xoxb-", 10}, {"xoxp-", 10}, {"xoxa-", 10}, {"AKIA", 16},  {"ASIA", 16}, {"AIza", 30},        {"nvapi-", 20},
                              {"npm_", 30},      {"pypi-", 30}, {"dckr_pat_", 15}};
  if (value.contains("-----BEGIN ") && value.contains("PRIVATE KEY-----")) return true;
  // A credential is rarely alone: `--token=hf_…`, `https://user:ghp_…@host`.
  for (const Shape &shape : shapes)
    for (size_t at = value.find(shape.prefix); at != StringRef::npos; at = value.find(shape.prefix, at + 1))
      if ((at == 0 || !(llvm::isAlnum(value[at - 1]) || value[at - 1] == '_' || value[at - 1] == '-')) && allOf(value.substr(at + shape.prefix.size()), shape.rest)) return true;
  // Three parts of base64, the first of which opens a JSON object.
  if (value.startswith("eyJ") && value.count('.') == 2 && value.size() > 40 && value.find(' ') == StringRef::npos) return true;
  return false;
}

} // namespace

// The one place that looks at texts for credentials, before anything is converted, so that nothing is missed and no other
// message prints the value.
void Checker::credentials(const Value &value, SourceRange at, StringRef key, bool inEnv, bool allowed) {
  switch (value.kind()) {
  case ValueKind::String:
    if (allowed) return;
    if (shapedLikeSecret(value.asString())) reportSecret(at, key, inEnv, true);
    else if (inEnv && namedLikeSecret(key) && !isHarmless(value.asString())) reportSecret(at, key, inEnv, false);
    return;
  case ValueKind::List:
    for (const Item &item : value.asList()) {
      // `env = [{ name = "A", value = "…" }]`
      if (inEnv && item.value.is(ValueKind::Block)) {
        const Entry *text = item.value.asBlock().find("value");
        if (text) credentials(text->value, text->range, textOf(item.value.asBlock(), "name"), true, allowed || text->allowed("literal-secret"));
        continue;
      }
      credentials(item.value, item.range.valid() ? item.range : at, key, false, allowed);
    }
    return;
  case ValueKind::Block:
    for (const Entry &entry : value.asBlock().entries) {
      const bool env = entry.key == "env" && entry.name.empty() && !inEnv;
      credentials(entry.value, entry.range, entry.key, inEnv || env, allowed || entry.allowed("literal-secret"));
    }
    return;
  default: return;
  }
}

void Checker::reportSecret(SourceRange at, StringRef name, bool inEnv, bool byShape) {
  failed_ = true;
  if (at.valid()) bad_.insert({at.file.index, at.begin, at.end});
  if (!once<diag::LiteralSecret>(at)) return;
  auto report = diags_.report(at, diag::LiteralSecret{.name = name, .why = byShape ? "has the shape of a credential" : "is named like a credential"});
  if (inEnv && !name.empty()) {
    // HF_TOKEN: secret("hf-token", key = "token").
    std::string object = llvm::StringRef(name).lower();
    for (char &c : object)
      if (c == '_') c = '-';
    const StringRef last = StringRef(object).rsplit('-').second;
    const std::string text = "secret(\"" + object + "\", key = \"" + (last.empty() ? object : last.str()) + "\")";
    report.fixit(at, text, diag::UseSecret{.text = text});
  } else {
    report.note(diag::UseSecretEnv{});
  }
  report.note(diag::AllowSecret{});
}

bool Checker::envName(StringRef name, SourceRange at) {
  StringRef problem;
  if (name.empty()) problem = "it is empty";
  for (char c : name)
    if (c == '=' || static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E) problem = "it holds a character that is `=` or not printable ASCII";
  if (problem.empty()) return true;
  error(at, diag::BadEnvName{.name = name, .problem = problem});
  return false;
}

Value Checker::envValue(const Entry &entry) {
  const Value &value = entry.value;
  switch (value.kind()) {
  case ValueKind::Poison:
  case ValueKind::String: return value;
  case ValueKind::Source: {
    const Source &source = value.asSource();
    const bool needsKey = source.kind == Source::Kind::Secret || source.kind == Source::Kind::Config;
    if (needsKey && source.key.empty()) {
      failed_ = true;
      const StringRef function = source.kind == Source::Kind::Secret ? "secret" : "config";
      if (once<diag::SourceNeedsKey>(entry.range)) {
        const std::string text = (function + "(\"" + source.name + "\", key = \"…\")").str();
        diags_.report(entry.range, diag::SourceNeedsKey{.name = entry.key, .function = function}).note(diag::WriteSo{.text = text});
      }
      return Value::poison();
    }
    if (needsKey && !dnsSubdomain(source.name, entry.range, source.kind == Source::Kind::Secret ? "secret" : "config map")) return Value::poison();
    if (source.kind == Source::Kind::Field) {
      constexpr StringRef paths[] = {"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"};
      if (!llvm::is_contained(paths, source.name) && !(source.name.startswith("metadata.labels['") || source.name.startswith("metadata.annotations['"))) {
        failed_ = true;
        if (once<diag::BadFieldPath>(entry.range)) {
          auto report = diags_.report(entry.range, diag::BadFieldPath{.path = source.name});
          report.rule("K040");
          StringRef near = nearestName(source.name, paths);
          if (!near.empty()) report.note(diag::DidYouMean{.name = near});
        }
        return Value::poison();
      }
    }
    if (source.kind == Source::Kind::Resource) {
      StringRef name = source.name;
      const bool side = name.consume_front("limits.") || name.consume_front("requests.");
      if (!side || !(name == "cpu" || name == "memory" || name == "ephemeral-storage" || name.startswith("hugepages-"))) {
        error(entry.range, diag::BadResourcePath{.name = source.name});
        return Value::poison();
      }
    }
    return value;
  }
  case ValueKind::Block: {
    // As Kubernetes has it: `{ valueFrom { … } }`.
    if (!value.asBlock().find("valueFrom") && !value.asBlock().find("value")) break;
    llvm::SmallVector<Entry, 4> members{entryOf("name", Value::string(entry.key), entry.keyRange)};
    members.append(value.asBlock().entries.begin(), value.asBlock().entries.end());
    const Value item = kubeObject(*arena_.make<BlockValue>(BlockValue{arena_.copy<Entry>(members), entry.range, nullptr}), *kube::find("EnvItem"), entry.keyRange, "`" + entry.key.str() + "`");
    if (item.isPoison()) return item;
    return blockOf(item.asBlock().entries.drop_front(), entry.range);
  }
  default: break;
  }
  failed_ = true;
  if (!once<diag::EnvNotText>(entry.range)) return Value::poison();
  const std::string found = describe(value);
  auto report = diags_.report(entry.range, diag::EnvNotText{.name = entry.key, .found = found});
  report.rule("V042");
  if (value.is(ValueKind::Int) || value.is(ValueKind::Float) || value.is(ValueKind::Bool) || value.isNull() || value.is(ValueKind::Amount) || value.is(ValueKind::Duration)) {
    // As it was written where that is a literal: 1e3 stays 1e3.
    StringRef text = entry.range.valid() ? compilation_.sources.text(entry.range) : StringRef();
    const bool literal = !text.empty() && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '.' || c == '-' || c == '+' || c == '_'; });
    const bool isWord = literal && llvm::isAlpha(text[0]) && text != "true" && text != "false" && text != "null";
    const std::string quoted = literal && !isWord ? "\"" + text.str() + "\"" : "\"" + show(value) + "\"";
    if (literal && !isWord) report.fixit(entry.range, quoted, diag::WriteSo{.text = quoted});
    else if (!text.empty() && text.size() < 80 && text.find('\n') == StringRef::npos) {
      const std::string interpolated = "\"\\(" + text.str() + ")\"";
      report.fixit(entry.range, interpolated, diag::WriteSo{.text = interpolated});
    } else report.note(diag::WriteSo{.text = quoted});
  }
  return Value::poison();
}

Value Checker::env(const Value &value, SourceRange at, const std::string &what) {
  const Value given = blockWanted(value, at, what, "env { NAME = \"value\" }");
  if (given.isPoison()) return given;
  llvm::SmallVector<Entry, 16> entries;
  bool bad = false;
  const bool mayRemove = mayRemoveEnv_;
  for (const Entry &entry : given.asBlock().entries) {
    if (!entry.name.empty()) {
      unknownField(entry, "env", {});
      bad = true;
      continue;
    }
    if (entry.value.isNull() && (entry.removes || mayRemove)) {
      if (!entry.removes) entries.push_back(entry); // jobRules sees whether there is one to take away
      continue;
    }
    if (bad_.count({entry.range.file.index, entry.range.begin, entry.range.end})) {
      bad = failed_ = true;
      continue;
    }
    Entry made = entry;
    const bool named = envName(entry.key, entry.keyRange);
    made.value = envValue(entry);
    if (!named || made.value.isPoison()) bad = true;
    entries.push_back(made);
  }
  if (bad) return Value::poison();
  return blockOf(entries, given.asBlock().range);
}

Value Checker::valueFrom(const Source &source, SourceRange at) {
  auto one = [&](StringRef member, std::initializer_list<Entry> entries) { return blockOf(entryOf(member, blockOf(ArrayRef<Entry>(entries.begin(), entries.size()), at), at), at); };
  switch (source.kind) {
  case Source::Kind::Secret: return one("secretKeyRef", {entryOf("name", Value::string(source.name), at), entryOf("key", Value::string(source.key), at)});
  case Source::Kind::Config: return one("configMapKeyRef", {entryOf("name", Value::string(source.name), at), entryOf("key", Value::string(source.key), at)});
  case Source::Kind::Field: return one("fieldRef", {entryOf("fieldPath", Value::string(source.name), at)});
  case Source::Kind::Resource: return one("resourceFieldRef", {entryOf("resource", Value::string(source.name), at)});
  }
  return {};
}

} // namespace kft::sema
