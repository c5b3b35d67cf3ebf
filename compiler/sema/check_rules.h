// The insides of the schema check, shared by its files: check.cpp walks the table, check_kube.cpp the Kubernetes schema,
// check_<block>.cpp holds the rules of one kind of block.
#pragma once

#include "compiler/kube/schema.h"
#include "compiler/sema/check.h"
#include "compiler/sema/schema.h"
#include "compiler/sema/type.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <set>
#include <string>
#include <tuple>

namespace kft::sema {

class Checker {
public:
  explicit Checker(Compilation &compilation) : compilation_(compilation), arena_(compilation.arena), diags_(compilation.diags) {}
  void run(ArrayRef<Decl *> decls);

private:
  // ---- check.cpp: the table of kinds and fields ----
  void declaration(Decl &decl);
  // The block as `shape` wants it. `isAbstract`: required fields and rules between fields are for those that extend it.
  Value block(const schema::Block &shape, const BlockValue &value, SourceRange at, bool isAbstract);
  Value typed(const Value &value, StringRef type, SourceRange at, const std::string &what, bool isAbstract);
  Value kindRules(const schema::Block &shape, const BlockValue &body, SourceRange at);
  Value oneOf(const schema::Block &shape, const Value &value, SourceRange at, const std::string &what);
  Value spec(StringRef tag, const Value &value, SourceRange at, const std::string &what);
  Value secret(const Value &value, SourceRange at, const std::string &what);
  const Type &notation(StringRef text);
  void unknownField(const Entry &entry, StringRef block, ArrayRef<StringRef> candidates, StringRef ofPatch = {});
  // What a reference or a block in its place stands for, checked; null when there is none or it is poison.
  const BlockValue *resolve(const BlockValue &owner, StringRef field, StringRef kind);

  // ---- check_kube.cpp: parts that the Kubernetes schema types ----
  Value kube(const Value &value, const kube::Type &type, SourceRange at, const std::string &what, StringRef owner, StringRef field);
  Value kubeObject(const BlockValue &value, const kube::Type &type, SourceRange at, const std::string &what);
  Value kubeList(const Value &value, const kube::Type &type, SourceRange at, const std::string &what, StringRef owner, StringRef field);
  Value kubeField(const Entry &entry, const kube::Field &field, const kube::Type &owner);
  void kubeObjectRules(const BlockValue &body, const kube::Type &type, SourceRange at, const std::string &what);
  Value labels(const Value &value, SourceRange at, const std::string &what, bool areAnnotations);
  void length(const Value &value, const kube::Type &type, SourceRange at, const std::string &what);

  // ---- check_env.cpp: env entries, sources, credentials ----
  Value env(const Value &value, SourceRange at, const std::string &what);
  // The text or source of one entry, or poison.
  Value envValue(const Entry &entry);
  bool envName(StringRef name, SourceRange at);
  // `{ secretKeyRef { … } }` of a source.
  Value valueFrom(const Source &source, SourceRange at);
  void credentials(const Value &value, SourceRange at, StringRef key, bool inEnv, bool allowed);
  void reportSecret(SourceRange at, StringRef name, bool inEnv, bool byShape);

  // ---- check_resources.cpp ----
  Value resources(const BlockValue &value, SourceRange at);
  Value resourceMap(const Value &value, SourceRange at, const std::string &what);
  bool resourceEntry(const Entry &entry, Entry &out);
  // What holds between the limits and the requests of one container.
  void resourcePair(const BlockValue *limits, const BlockValue *requests, bool deviceNeedsLimit);

  // ---- check_names.cpp ----
  std::string kubeName(StringRef written, bool quoted) const;
  bool dnsLabel(StringRef name, SourceRange at, StringRef what, bool startsWithLetter = false, size_t longest = 63);
  bool dnsSubdomain(StringRef name, SourceRange at, StringRef what);
  bool labelKey(StringRef key, SourceRange at);
  bool labelValue(StringRef value, SourceRange at, const std::string &what);
  void names(ArrayRef<Decl *> decls);
  void jobNameBudget(const Decl &decl, const BlockValue &body);

  // ---- check_<kind>.cpp: rules between fields; `at` is the name or the block ----
  void datasetRules(const BlockValue &body, SourceRange at);
  void modelRules(const BlockValue &body, SourceRange at);
  void trainerRules(const BlockValue &body, SourceRange at);
  void runtimeRules(const BlockValue &body, SourceRange at);
  void jobRules(const BlockValue &body, SourceRange at);
  void patchRules(const BlockValue &job, const BlockValue &runtime, StringRef runtimeName);
  void initializerRules(const BlockValue &job, const BlockValue &runtime, StringRef runtimeName, StringRef policy);
  void countRules(const BlockValue &job, const BlockValue &runtime, StringRef policy);
  void torchtuneRules(const BlockValue &job, const BlockValue *trainer, const Decl &runtime);
  void commandRules(const BlockValue &body);
  void sourceUri(const BlockValue &body, bool isModel);

  // ---- helpers ----
  // True the first time this message is about to be given at this place: what is inherited is judged again and again.
  template <typename Row>
  bool once(SourceRange at) {
    return said_.insert({Row::id, at.file.index, at.begin, at.end}).second;
  }
  template <typename Row>
  void error(SourceRange at, const Row &row) {
    failed_ = true;
    if (once<Row>(at)) diags_.report(at, row);
  }
  template <typename Row>
  void warn(SourceRange at, const Row &row) {
    if (once<Row>(at)) diags_.report(at, row);
  }
  Value converted(const Value &value, const Type &type, SourceRange at, const std::string &what);
  // A block or a report that shows how it is written.
  Value blockWanted(const Value &value, SourceRange at, const std::string &what, StringRef example);
  Value blockOf(ArrayRef<Entry> entries, SourceRange range, const Decl *from = nullptr);
  Entry entryOf(StringRef key, Value value, SourceRange range);
  StringRef save(const llvm::Twine &text) { return arena_.save(text.str()); }

  Compilation &compilation_;
  Arena &arena_;
  Diagnostics &diags_;
  bool mayRemoveEnv_ = false; // null in the env at hand may take away what a trainer gives
  bool failed_ = false; // something of the block at hand was reported
  std::set<std::tuple<int, uint32_t, uint32_t, uint32_t>> said_;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> bad_; // ranges of values that were reported
  llvm::StringMap<const Type *> notations_;
};

// The text under `key`, or empty.
inline StringRef textOf(const BlockValue &block, StringRef key) {
  const Entry *entry = block.find(key);
  return entry && entry->value.is(ValueKind::String) ? entry->value.asString() : StringRef();
}
inline const BlockValue *blockAt(const BlockValue &block, StringRef key) {
  const Entry *entry = block.find(key);
  return entry && entry->value.is(ValueKind::Block) ? &entry->value.asBlock() : nullptr;
}
inline ArrayRef<Item> listAt(const BlockValue &block, StringRef key) {
  const Entry *entry = block.find(key);
  return entry && entry->value.is(ValueKind::List) ? entry->value.asList() : ArrayRef<Item>();
}
inline bool isDevice(StringRef resource) { return resource.contains('/') && !resource.startswith("kubernetes.io/"); }
// The one member of `policy` or `gang`; empty when there is none.
StringRef memberOf(const BlockValue &block, StringRef key);
// "a, b and c".
std::string listing(ArrayRef<StringRef> names);

} // namespace kft::sema
