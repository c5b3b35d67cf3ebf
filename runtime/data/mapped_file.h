// A whole file as read-only memory.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace kft::run {

class MappedFile {
public:
  explicit MappedFile(const std::string &path); // throws Error: not there, not readable, a directory
  MappedFile(MappedFile &&other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile &operator=(MappedFile &&other) noexcept {
    std::swap(data_, other.data_), std::swap(size_, other.size_);
    return *this;
  }
  ~MappedFile();

  const char *data() const { return data_; }
  size_t size() const { return size_; }
  std::string_view text() const { return {data_, size_}; }

private:
  const char *data_ = nullptr;
  size_t size_ = 0;
};

} // namespace kft::run
