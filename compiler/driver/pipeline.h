// The arrows of the compiler in order, and nothing else. Each step takes what the one before gave and stops when something
// was reported; the caller shows the diagnostics.
#pragma once

#include "compiler/ast/nodes.h"
#include "compiler/basic/compilation.h"

#include <memory>
#include <optional>

namespace kft::driver {

// A compilation that can parse.
std::unique_ptr<Compilation> newCompilation(const Options &options);

// `-` is standard input. Nothing after a report (KFT9001).
std::optional<FileId> load(llvm::StringRef path, Compilation &compilation);

// The whole tree; null when the text has errors.
const ast::Module *parseFile(llvm::StringRef path, Compilation &compilation);

} // namespace kft::driver
