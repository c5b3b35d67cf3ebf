// Floats in memory that is taken once, before the first step, and touched at once, so that a step meets no new page.
#pragma once

#include <cstdint>
#include <utility>

namespace kft::run {

// (rows, width), row-major, owned by somebody else.
struct Tensor {
  float *data = nullptr;
  int64_t rows = 0, width = 0;
  int64_t size() const { return rows * width; }
  float *row(int64_t index) const { return data + index * width; }
};

// Zeroed, aligned to a cache line; large ones to huge pages.
class Buffer {
public:
  Buffer() = default;
  explicit Buffer(int64_t floats);
  Buffer(Buffer &&other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer &operator=(Buffer &&other) noexcept {
    std::swap(data_, other.data_), std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer();

  float *data() { return data_; }
  const float *data() const { return data_; }
  int64_t size() const { return size_; }

private:
  float *data_ = nullptr;
  int64_t size_ = 0;
};

} // namespace kft::run
