#include "runtime/tensor/tensor.h"
#include "runtime/plan/error.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>

namespace kft::run {

Buffer::Buffer(int64_t floats) : size_(floats) {
  constexpr size_t hugePage = size_t(2) << 20, line = 64;
  size_t bytes = std::max<size_t>(size_t(floats) * sizeof(float), 1);
  size_t alignment = bytes >= hugePage ? hugePage : line;
  bytes = (bytes + alignment - 1) / alignment * alignment;
  data_ = static_cast<float *>(std::aligned_alloc(alignment, bytes));
  if (!data_)
    throw Error(ExitCode::Resource,
                "there is no memory for " + std::to_string(bytes >> 20) + " MiB of the model's buffers");
  if (alignment == hugePage) ::madvise(data_, bytes, MADV_HUGEPAGE); // a hint; refused is fine
  std::memset(data_, 0, bytes);
}

Buffer::~Buffer() { std::free(data_); }

} // namespace kft::run
