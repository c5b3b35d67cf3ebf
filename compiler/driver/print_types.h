// `compile --emit types`: the typed module as text.
#pragma once

#include "compiler/sema/module.h"

#include <string>

namespace kft::driver {

// Every declaration of the file with the value and the type of each field, after `extends`, profiles and the schema check.
std::string printTypes(const sema::Module &module);

} // namespace kft::driver
