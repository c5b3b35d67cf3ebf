// Every byte of source text that a compilation has seen. A place in it is a SourceRange: file and byte offsets; lines and
// columns are made only when somebody reads a message.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kft {

struct FileId {
  uint32_t index = UINT32_MAX;
  bool valid() const { return index != UINT32_MAX; }
  bool operator==(const FileId &) const = default;
};

// Half open, in bytes. A default range means "no place in any file" (options, the tool itself).
struct SourceRange {
  FileId file;
  uint32_t begin = 0;
  uint32_t end = 0;
  bool valid() const { return file.valid(); }
  bool operator==(const SourceRange &) const = default;
};

// From the first byte of `first` to the last of `last`; both must lie in one file.
inline SourceRange join(SourceRange first, SourceRange last) {
  if (!first.valid()) return last;
  if (!last.valid()) return first;
  return {first.file, first.begin < last.begin ? first.begin : last.begin, first.end > last.end ? first.end : last.end};
}

// One-based; a column counts characters (code points), not bytes.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;
};

class SourceFiles {
public:
  // Reads a file; a second call for the same canonical path gives the same id. `shownAs` is the name that messages print.
  // Fails when it cannot be read or is larger than 64 MiB. Encoding is judged by the parser, not here.
  llvm::Expected<FileId> load(llvm::StringRef path, llvm::StringRef shownAs = {});
  // Text that is no file: the standard library (`std/nn.kft`), standard input (`-`), the value of an option.
  FileId add(std::string name, std::string text);

  size_t size() const { return files_.size(); }
  llvm::StringRef text(FileId file) const { return files_[file.index]->text; }
  llvm::StringRef text(SourceRange range) const { return text(range.file).slice(range.begin, range.end); }
  // As messages print it.
  llvm::StringRef name(FileId file) const { return files_[file.index]->name; }
  // Absolute, symbolic links resolved; empty for text that is no file.
  llvm::StringRef path(FileId file) const { return files_[file.index]->path; }

  LineColumn lineColumn(FileId file, uint32_t offset) const;
  // The line without its end; `line` is one-based.
  llvm::StringRef lineText(FileId file, uint32_t line) const;
  uint32_t lineStart(FileId file, uint32_t line) const;

private:
  struct File {
    std::string name, path, text;
    mutable std::vector<uint32_t> lineStarts; // filled on first use
  };
  const std::vector<uint32_t> &lineStarts(FileId file) const;
  std::vector<std::unique_ptr<File>> files_;
};

} // namespace kft
