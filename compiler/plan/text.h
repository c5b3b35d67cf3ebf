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
std::string bytesText(double bytes); // 76 KiB
std::string countText(double count); // 9.6 k, 5.1 M
// Warns of a warm-up that never ends; needs the number of steps.
void checkWarmup(const run::Plan &plan, const ir::Job &job, Compilation &compilation);

} // namespace kft::plan
