// The schema check: from what evaluation gave (Decl::raw) to what a job may be (Decl::body). Fields are known, of their
// type and within bounds; Kubernetes-shaped parts fit the published schema; rules that span several fields hold. In a
// body, blocks that stand for keyed lists of Kubernetes are lists, env entries are texts or sources, `policy` and `gang`
// are blocks of one member, and nothing is null.
#pragma once

#include "compiler/basic/compilation.h"
#include "compiler/sema/module.h"

namespace kft::sema {

// `decls` are the declarations of the file and those of other modules that it refers to, directly or not; each gets its
// `kubeName` and `body`. Whatever is wrong is reported once, where it was written, however many declarations inherit it.
void check(ArrayRef<Decl *> decls, Compilation &compilation);

} // namespace kft::sema
