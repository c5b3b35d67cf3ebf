#include "compiler/target/parts.h"
#include "compiler/target/key_order.h"

namespace kft::target {

Tree mapOf(const ir::StringMap &map, SourceRange origin) {
  Tree tree = Tree::map(origin);
  for (const auto &[key, value] : map) tree.set(key, Tree::of(value, origin));
  return tree;
}

Object startObject(llvm::StringRef kind, const std::string &name, const std::string &nameSpace, const ir::StringMap &labels, const ir::StringMap &annotations, SourceRange origin,
                   SourceRange nameOrigin) {
  Object object{ApiVersion.str(), kind.str(), name, nameSpace, Tree::map(origin)};
  object.root.set("apiVersion", Tree::of(object.apiVersion, origin));
  object.root.set("kind", Tree::of(object.kind, origin));
  Tree &metadata = object.root.set("metadata", Tree::map(origin));
  metadata.set("name", Tree::of(name, nameOrigin));
  if (!nameSpace.empty()) metadata.set("namespace", Tree::of(nameSpace, nameOrigin));
  if (!labels.empty()) metadata.set("labels", mapOf(labels, origin));
  if (!annotations.empty()) metadata.set("annotations", mapOf(annotations, origin));
  return object;
}

Tree replicatedJob(const std::string &name, const Tree &own, const Tree &jobMetadata, const Tree &jobSpec, const Tree &podMetadata, const Tree &podSpec, SourceRange origin) {
  Tree job = Tree::map(origin);
  job.set("name", Tree::of(name, origin));
  for (const char *key : {"replicas", "groupName", "dependsOn"})
    if (const Tree *value = own.find(key)) job.set(key, *value);
  for (const auto &[key, value] : own.fields)
    if (!job.find(key)) job.set(key, value);
  if (jobMetadata.empty() && jobSpec.empty() && podMetadata.empty() && podSpec.empty()) return job;

  Tree &jobTemplate = job.set("template", Tree::map(origin));
  if (!jobMetadata.empty()) jobTemplate.set("metadata", jobMetadata);
  if (jobSpec.empty() && podMetadata.empty() && podSpec.empty()) return job;
  Tree &spec = jobTemplate.set("spec", Tree::map(origin));
  for (const auto &[key, value] : jobSpec.fields) spec.set(key, value);
  if (podMetadata.empty() && podSpec.empty()) return job;
  Tree &podTemplate = spec.set("template", Tree::map(origin));
  if (!podMetadata.empty()) podTemplate.set("metadata", podMetadata);
  if (!podSpec.empty()) orderPodSpec(podTemplate.set("spec", podSpec));
  return job;
}

} // namespace kft::target
