// `kftc fmt`: one canonical layout, no options. Comments are kept; formatting twice changes nothing; the tree of the result
// equals the tree of the input.
#pragma once

#include "compiler/ast/nodes.h"
#include "compiler/basic/compilation.h"

#include <string>

namespace kft::format {

// The file must have parsed without errors (`!module.hasErrors`).
std::string format(const ast::Module &module, const SourceFiles &sources);

} // namespace kft::format
