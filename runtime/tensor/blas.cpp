#include "runtime/tensor/blas.h"
#include "runtime/plan/error.h"

#include <cstdlib>
#include <dlfcn.h>

namespace kft::run {

// The C interface, as every CBLAS has it.
enum CblasOrder { CblasRowMajor = 101 };
enum CblasTranspose { CblasNoTrans = 111, CblasTrans = 112 };
using SgemmFunction = void (*)(CblasOrder, CblasTranspose, CblasTranspose, int, int, int, float, const float *, int,
                               const float *, int, float, float *, int);

static SgemmFunction sgemm = nullptr;
static std::string loadedName;

std::string blasCoreType() {
  if (const char *given = std::getenv("OPENBLAS_CORETYPE"); given && *given) return given;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return "";
}

void loadBlas(int threads) {
  if (sgemm) return;
  std::string count = std::to_string(threads > 0 ? threads : 1), core = blasCoreType();
  ::setenv("OPENBLAS_NUM_THREADS", count.c_str(), 1); // the plan decides, or ranks would fight over cores
  if (!core.empty()) ::setenv("OPENBLAS_CORETYPE", core.c_str(), 0);
  void *library = ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) library = ::dlopen("libopenblas.so", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(ExitCode::Resource, std::string("OpenBLAS cannot be loaded (") + ::dlerror() +
                                        "); install it, on Debian the package `libopenblas0-pthread`");
  sgemm = reinterpret_cast<SgemmFunction>(::dlsym(library, "cblas_sgemm"));
  if (!sgemm) throw Error(ExitCode::Resource, "the OpenBLAS that was found has no `cblas_sgemm`");
  using TextFunction = char *(*)();
  auto text = [&](const char *symbol) {
    auto function = reinterpret_cast<TextFunction>(::dlsym(library, symbol));
    return std::string(function ? function() : "");
  };
  std::string config = text("openblas_get_config"); // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …"
  size_t space = config.find(' ');
  size_t end = space == config.npos ? space : config.find(' ', space + 1);
  loadedName = (config.empty() ? "OpenBLAS" : config.substr(0, end)) + " " + text("openblas_get_corename");
}

std::string blasName() { return loadedName; }

void gemm(Transpose a, Transpose b, int64_t m, int64_t n, int64_t k, const float *A, const float *B, float beta,
          float *C) {
  sgemm(CblasRowMajor, a == Transpose::Yes ? CblasTrans : CblasNoTrans, b == Transpose::Yes ? CblasTrans : CblasNoTrans,
        int(m), int(n), int(k), 1, A, int(a == Transpose::Yes ? m : k), B, int(b == Transpose::Yes ? k : n), beta, C,
        int(n));
}

void plainGemm(Transpose a, Transpose b, int64_t m, int64_t n, int64_t k, const float *A, const float *B, float beta,
               float *C) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += double(a == Transpose::Yes ? A[l * m + i] : A[i * k + l]) *
               double(b == Transpose::Yes ? B[j * k + l] : B[l * n + j]);
      C[i * n + j] = float(sum + (beta == 0 ? 0 : double(beta) * double(C[i * n + j])));
    }
}

} // namespace kft::run
