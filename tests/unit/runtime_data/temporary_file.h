// A file that lives as long as the object.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

struct TemporaryFile {
  std::string path;
  explicit TemporaryFile(const std::string &content) {
    const char *directory = std::getenv("TMPDIR");
    path = std::string(directory ? directory : "/tmp") + "/kft-test-XXXXXX";
    ::close(::mkstemp(path.data()));
    std::ofstream(path, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile &) = delete;
  ~TemporaryFile() { ::unlink(path.c_str()); }
};
