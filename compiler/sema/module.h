// The typed module: every declaration of the file, evaluated and checked against the schema. Const once `analyze` returns.
#pragma once

#include "compiler/ast/nodes.h"
#include "compiler/basic/compilation.h"
#include "compiler/sema/value.h"

namespace kft::sema {

struct Decl {
  StringRef kind;     // dataset, model, trainer, runtime, job, profile, test
  StringRef name;     // as written
  StringRef kubeName; // `name = "…"` or the written name with `_` as `-`
  SourceRange nameRange;
  SourceRange range;
  FileId file;        // the module it stands in
  StringRef doc;
  bool isAbstract = false;  // @abstract: may be incomplete, is not written
  bool isImported = false;  // stands in another module than the one compiled
  // After `extends`, amendments and profiles. `raw` is what evaluation gave; `body` what the schema check made of it:
  // numbers become amounts where wanted, blocks that stand for keyed lists of Kubernetes are lists, every field is known
  // and of its type. Poison if anything in it was reported.
  Value raw;
  Value body;
};

struct Module {
  const ast::Module *syntax = nullptr;
  ArrayRef<const Decl *> decls; // of this file, in order of appearance; abstract ones too
  ArrayRef<const Decl *> imported; // those of other modules that a job of this file refers to, directly or not
};

// Names bound, values computed, kinds checked. All mistakes are reported; what failed is poison.
Module analyze(const ast::Module &module, Compilation &compilation);

} // namespace kft::sema
