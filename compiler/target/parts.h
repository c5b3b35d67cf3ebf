// What TrainJobs and runtimes have in common.
#pragma once

#include "compiler/ir/job.h"
#include "compiler/target/object.h"

#include "llvm/ADT/StringRef.h"

namespace kft::target {

inline constexpr llvm::StringRef ApiVersion = "trainer.kubeflow.org/v1alpha1";
inline constexpr llvm::StringRef StepLabel = "trainer.kubeflow.org/trainjob-ancestor-step";

Tree mapOf(const ir::StringMap &map, SourceRange origin);
// apiVersion, kind and metadata; `spec` comes next.
Object startObject(llvm::StringRef kind, const std::string &name, const std::string &nameSpace, const ir::StringMap &labels, const ir::StringMap &annotations, SourceRange origin,
                   SourceRange nameOrigin);
// One item of replicatedJobs: name, the members of its own, and the Job template with the pod template inside.
Tree replicatedJob(const std::string &name, const Tree &own, const Tree &jobMetadata, const Tree &jobSpec, const Tree &podMetadata, const Tree &podSpec, SourceRange origin);

} // namespace kft::target
