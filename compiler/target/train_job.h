#pragma once

#include "compiler/basic/compilation.h"
#include "compiler/ir/job.h"
#include "compiler/target/object.h"

namespace kft::target {

// The TrainJob of one job; nothing after an error was reported.
std::vector<Object> trainJob(const ir::Job &job, Compilation &compilation);

} // namespace kft::target
