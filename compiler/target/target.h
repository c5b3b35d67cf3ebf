// From jobs to the objects one kind of target needs.
#pragma once

#include "compiler/basic/compilation.h"
#include "compiler/ir/job.h"
#include "compiler/target/object.h"

#include <vector>

namespace kft::target {

enum class Kind : uint8_t {
#define KFT_TARGET(Name, option, help) Name,
#include "compiler/target/targets.def"
};

// The objects of one target for one job or one runtime. Rules of the target that the job breaks are reported (KFT5xxx).
std::vector<Object> build(const ir::Job &job, Kind kind, Compilation &compilation);
std::vector<Object> build(const ir::Runtime &runtime, Compilation &compilation);

} // namespace kft::target
