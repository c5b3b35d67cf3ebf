// Files as results: whole or not at all.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kft::driver {

// All of standard input, at most 64 MiB.
llvm::Expected<std::string> readStdin();

// Writes a file in one step: a temporary beside it, synced, then renamed over it, so that nobody ever reads half of it and
// a full disk leaves the old one. An existing file keeps its permissions; a symbolic link stays one, its target is replaced.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef text);

struct OutputFile {
  std::string path, text;
};
// Several files, all or none: no old file is touched before every new one is on the disk. `failed` is the path that could
// not be written.
llvm::Error writeFiles(llvm::ArrayRef<OutputFile> files, std::string &failed);

// With its parents; fine when it is there.
llvm::Error makeDirectory(llvm::StringRef path);

// Whether both name the same existing file.
bool sameFile(llvm::StringRef a, llvm::StringRef b);

// Writes everything to a descriptor. The error code is EPIPE when the reader went away.
std::error_code writeAll(int fileDescriptor, llvm::StringRef text);

} // namespace kft::driver
