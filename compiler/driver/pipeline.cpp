#include "compiler/driver/pipeline.h"

#include "compiler/driver/files.h"
#include "compiler/parse/parse.h"

#include <climits>
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace kft::driver {

namespace {

// A thousand jobs touch 70 MB once each, in pages of 4 KB: the kernel took more time to hand them out than the compiler to
// fill them. One growth of the heap, in large pages where the system has them, and no giving back before the end. Only address
// space is taken; where there is none, nothing happens.
void takeLargePages() {
#ifdef __GLIBC__
  constexpr int Room = 256 << 20;
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, Room);
  char *before = static_cast<char *>(sbrk(0));
  void *volatile grows = std::malloc(1 << 20); // more than the first heap has
  std::free(grows);
  mallopt(M_TOP_PAD, 4 << 20);
  const char *after = static_cast<const char *>(sbrk(0));
  if (after > before) (void)madvise(before, static_cast<size_t>(after - before), MADV_HUGEPAGE);
#endif
}

} // namespace

std::unique_ptr<Compilation> newCompilation(const Options &options) {
  [[maybe_unused]] static const bool once = (takeLargePages(), true);
  auto compilation = std::make_unique<Compilation>();
  compilation->options = options;
  Compilation *self = compilation.get();
  compilation->parse = [self](FileId file) -> const ast::Module & { return parse::module(file, *self); };
  return compilation;
}

std::optional<FileId> load(llvm::StringRef path, Compilation &compilation) {
  if (path == "-") {
    llvm::Expected<std::string> text = readStdin();
    if (text) return compilation.sources.add("<stdin>", std::move(*text));
    compilation.diags.report(SourceRange{},
                             diag::CannotReadInput{.file = "standard input", .reason = llvm::toString(text.takeError())});
    return std::nullopt;
  }
  llvm::Expected<FileId> file = compilation.sources.load(path);
  if (file) return *file;
  compilation.diags.report(SourceRange{}, diag::CannotReadInput{.file = path, .reason = llvm::toString(file.takeError())});
  return std::nullopt;
}

const ast::Module *parseFile(llvm::StringRef path, Compilation &compilation) {
  std::optional<FileId> file = load(path, compilation);
  if (!file) return nullptr;
  const ast::Module &module = compilation.parse(*file);
  return compilation.diags.hasErrors() ? nullptr : &module;
}

} // namespace kft::driver
