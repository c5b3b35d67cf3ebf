// The arrows of the compiler in order, and nothing else. Each step takes what the one before gave and gives nothing when
// something was reported; the caller shows the diagnostics.
#pragma once

#include "compiler/ast/nodes.h"
#include "compiler/basic/compilation.h"
#include "compiler/ir/job.h"
#include "compiler/sema/module.h"
#include "compiler/target/object.h"
#include "compiler/target/target.h"
#include "runtime/plan/run_plan.h"

#include <memory>
#include <optional>
#include <vector>

namespace kft::driver {

// A compilation that can parse.
std::unique_ptr<Compilation> newCompilation(const Options &options);

// `-` is standard input. Nothing after a report (KFT9001).
std::optional<FileId> load(llvm::StringRef path, Compilation &compilation);

// text -> tree. Null when the text has errors.
const ast::Module *parseFile(llvm::StringRef path, Compilation &compilation);

// tree -> typed module.
std::optional<sema::Module> analyze(const ast::Module &module, Compilation &compilation);

// typed module -> jobs, those of `--job` only (KFT9009 when there is no such job).
std::optional<ir::Program> lower(const sema::Module &module, Compilation &compilation);

// job -> run plan, of shapes and counts only; nothing for a job of another engine than ours.
std::optional<run::Plan> makePlan(const ir::Job &job, Compilation &compilation);

// jobs -> objects of the given kinds: runtimes first, then by name.
std::vector<target::Object> build(const ir::Program &program, llvm::ArrayRef<target::Kind> kinds, Compilation &compilation);

// The first three arrows. What `check`, `compile`, `plan` and `run` begin with.
std::optional<ir::Program> lowerFile(llvm::StringRef path, Compilation &compilation);

} // namespace kft::driver
