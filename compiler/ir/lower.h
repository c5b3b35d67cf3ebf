// sema::Module to jobs. The only reader of defaults. Afterwards nothing points back to the tree, and ir::verify holds.
#pragma once

#include "compiler/ir/job.h"
#include "compiler/sema/module.h"

namespace kft::ir {

Program lower(const sema::Module &module, Compilation &compilation);

} // namespace kft::ir
