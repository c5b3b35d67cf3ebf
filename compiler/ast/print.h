// The tree as text, for `--emit ast` and for tests: one node a line, children indented. Two trees print alike exactly when
// they are alike apart from places and comments.
#pragma once

#include "compiler/ast/nodes.h"

#include <string>

namespace kft::ast {

std::string print(const Module &module);
std::string print(const Expr &expr);

} // namespace kft::ast
