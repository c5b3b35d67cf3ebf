// Numbers as the plan's messages and tables print them.
#pragma once

#include "compiler/basic/compilation.h"
#include "compiler/ir/job.h"
#include "runtime/plan/run_plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kft::plan {

std::string shapeText(const std::vector<int64_t> &shape); // [8, 8]
int64_t product(const std::vector<int64_t> &shape);
// Warns of a warm-up that never ends; needs the number of steps.
void checkWarmup(const run::Plan &plan, const ir::Job &job, Compilation &compilation);

} // namespace kft::plan
