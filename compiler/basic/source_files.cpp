#include "compiler/basic/source_files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cstring>

namespace kft {

namespace {
constexpr uint64_t MaxFileBytes = 64ull << 20; // language.md section 3
}

llvm::Expected<FileId> SourceFiles::load(llvm::StringRef path, llvm::StringRef shownAs) {
  llvm::SmallString<256> real;
  if (std::error_code error = llvm::sys::fs::real_path(path, real))
    return llvm::createStringError(error, "%s", error.message().c_str());
  for (size_t i = 0; i < files_.size(); ++i)
    if (files_[i]->path == real.str()) return FileId{static_cast<uint32_t>(i)};
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(real, status))
    return llvm::createStringError(error, "%s", error.message().c_str());
  if (status.type() == llvm::sys::fs::file_type::directory_file)
    return llvm::createStringError(std::make_error_code(std::errc::is_a_directory), "it is a directory");
  if (status.getSize() > MaxFileBytes)
    return llvm::createStringError(std::make_error_code(std::errc::file_too_large), "it is larger than 64 MiB");
  // Volatile: the text must not change under us when an editor writes the file meanwhile.
  auto buffer = llvm::MemoryBuffer::getFile(real, /*IsText=*/false, /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!buffer) return llvm::createStringError(buffer.getError(), "%s", buffer.getError().message().c_str());
  if ((*buffer)->getBufferSize() > MaxFileBytes)
    return llvm::createStringError(std::make_error_code(std::errc::file_too_large), "it is larger than 64 MiB");
  auto file = std::make_unique<File>();
  file->name = (shownAs.empty() ? path : shownAs).str();
  file->path = real.str().str();
  file->text = (*buffer)->getBuffer().str();
  files_.push_back(std::move(file));
  return FileId{static_cast<uint32_t>(files_.size() - 1)};
}

FileId SourceFiles::add(std::string name, std::string text) {
  auto file = std::make_unique<File>();
  file->name = std::move(name);
  file->text = std::move(text);
  files_.push_back(std::move(file));
  return FileId{static_cast<uint32_t>(files_.size() - 1)};
}

const std::vector<uint32_t> &SourceFiles::lineStarts(FileId id) const {
  const File &file = *files_[id.index];
  if (file.lineStarts.empty()) {
    file.lineStarts.push_back(0);
    const char *begin = file.text.data(), *end = begin + file.text.size();
    for (const char *at = begin; at < end;) {
      const char *newline = static_cast<const char *>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
      if (!newline) break;
      at = newline + 1;
      file.lineStarts.push_back(static_cast<uint32_t>(at - begin));
    }
  }
  return file.lineStarts;
}

LineColumn SourceFiles::lineColumn(FileId file, uint32_t offset) const {
  const auto &starts = lineStarts(file);
  llvm::StringRef all = text(file);
  offset = std::min<uint32_t>(offset, static_cast<uint32_t>(all.size()));
  auto next = std::upper_bound(starts.begin(), starts.end(), offset);
  uint32_t line = static_cast<uint32_t>(next - starts.begin());
  uint32_t column = 1;
  for (uint32_t at = starts[line - 1]; at < offset; ++at)
    if ((static_cast<unsigned char>(all[at]) & 0xC0) != 0x80) ++column;
  return {line, column};
}

uint32_t SourceFiles::lineStart(FileId file, uint32_t line) const {
  const auto &starts = lineStarts(file);
  return starts[std::min<size_t>(line, starts.size()) - 1];
}

llvm::StringRef SourceFiles::lineText(FileId file, uint32_t line) const {
  const auto &starts = lineStarts(file);
  if (line == 0 || line > starts.size()) return {};
  llvm::StringRef rest = text(file).drop_front(starts[line - 1]);
  llvm::StringRef result = rest.take_until([](char c) { return c == '\n'; });
  result.consume_back("\r");
  return result;
}

} // namespace kft
