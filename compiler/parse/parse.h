// Text to tree. The only entry to ANTLR: no type of it leaves this folder, nothing it throws leaves `module`.
#pragma once

#include "compiler/ast/nodes.h"
#include "compiler/basic/compilation.h"

namespace kft::parse {

// Always a whole tree: broken parts are ErrorStmt, ErrorExpr, ErrorType, and have been reported as KFT1xxx.
const ast::Module &module(FileId file, Compilation &compilation);

// One expression that makes up the whole text of `file` (the value of `--set`). Null after a report.
const ast::Expr *expression(FileId file, Compilation &compilation);

} // namespace kft::parse
