// The invariants of jobs, as code. A broken one is a fault of ours, never of a user's file.
#pragma once

#include "compiler/ir/job.h"

namespace kft::ir {

void verify(const Program &program);

} // namespace kft::ir
