#include "runtime/tensor/kernels.h"

#include <cstdlib>

namespace kft::run {

namespace base {
extern const Kernels table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
#endif

std::vector<const Kernels *> availableKernels() {
  std::vector<const Kernels *> found{&plainKernels(), &base::table};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back(&avx2::table);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))
    found.push_back(&avx512::table);
#endif
  return found;
}

static const Kernels &choose() {
  auto available = availableKernels();
  if (const char *wanted = std::getenv("KFT_KERNELS"))
    for (const Kernels *candidate : available)
      if (std::string(candidate->name) == wanted) return *candidate;
  return *available.back();
}

const Kernels &kernels() {
  static const Kernels &chosen = choose();
  return chosen;
}

} // namespace kft::run
