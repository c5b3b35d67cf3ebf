// Any bytes: the parser gives a whole tree, says something exactly when the tree has errors, and never crashes. Phases that
// read the tree are called in here as well.
#include "compiler/ast/print.h"
#include "compiler/basic/check.h"
#include "compiler/format/format.h"
#include "compiler/parse/parse.h"
#include "compiler/sema/module.h"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kft::Compilation compilation;
  kft::FileId file = compilation.sources.add("fuzz.kft", std::string(reinterpret_cast<const char *>(data), size));
  const kft::ast::Module &module = kft::parse::module(file, compilation);
  KFT_CHECK(module.hasErrors == compilation.diags.hasErrors(), "a tree has errors exactly when some were reported");
  kft::ast::print(module);
  if (!module.hasErrors) {
    std::string once = kft::format::format(module, compilation.sources);
    kft::FileId again = compilation.sources.add("again.kft", once);
    const kft::ast::Module &second = kft::parse::module(again, compilation);
    KFT_CHECK(!second.hasErrors, "what fmt writes is kft");
    KFT_CHECK(kft::format::format(second, compilation.sources) == once, "fmt changes nothing the second time");
    compilation.parse = [&compilation](kft::FileId id) -> const kft::ast::Module & { return kft::parse::module(id, compilation); };
    kft::sema::analyze(module, compilation);
  }
  compilation.diags.clear();
  kft::parse::expression(file, compilation);
  return 0;
}
