// Plans as tables of 80 columns.
#pragma once

#include "compiler/ir/job.h"
#include "compiler/plan/command.h"
#include "runtime/plan/run_plan.h"

#include <string>

namespace kft::driver {

std::string nativeText(const run::Plan &plan);
std::string commandText(const ir::Job &job, const plan::CommandPlan &plan);
// State that the optimizer keeps beside weights and gradients.
int64_t optimizerBytes(const run::Plan &plan);

} // namespace kft::driver
