// Jobs as text, for `--emit ir` and goldens: every member that is set, in the order of the structs.
#pragma once

#include "compiler/ir/job.h"

#include <string>

namespace kft::ir {

std::string print(const Program &program);
std::string print(const Tree &tree); // on one line, as JSON

} // namespace kft::ir
