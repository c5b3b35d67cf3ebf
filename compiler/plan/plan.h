// ir::Job to run::Plan: world size, shapes layer by layer, memory, schedule. Reports KFT6xxx at the layer's own characters.
#pragma once

#include "compiler/basic/compilation.h"
#include "compiler/ir/job.h"
#include "runtime/plan/run_plan.h"

#include <optional>

namespace kft::plan {

// Shapes and counts only; does not touch the data files. Nothing after a report. `check` and `compile` call this for every
// native job; `plan`, `run` and, where the files are here, `compile --emit plan` go on with `lookAtData`.
std::optional<run::Plan> make(const ir::Job &job, Compilation &compilation);
// Reads the data files' extent: rows, columns, hash, labels; fills in what depends on them. False after a report.
bool lookAtData(run::Plan &plan, const ir::Job &job, Compilation &compilation);

} // namespace kft::plan
