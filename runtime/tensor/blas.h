// Matrix products. OpenBLAS does the work; it is loaded by hand, because it picks its kernels from the environment
// while it is being loaded, and left alone it picks slow ones on processors it does not know.
#pragma once

#include <cstdint>
#include <string>

namespace kft::run {

// The OPENBLAS_CORETYPE that fits this processor ("SkylakeX", "Haswell"), or "" to leave the choice to OpenBLAS. What
// the environment already says wins.
std::string blasCoreType();

// Sets the environment and loads the library; call once, before `gemm`. Throws Error (Resource) when it is not
// installed.
void loadBlas(int threads);
// "OpenBLAS 0.3.21 SkylakeX"; what it reports itself, after `loadBlas`.
std::string blasName();

enum class Transpose : bool { No, Yes };

// C (m, n) = A (m, k) · B (k, n) + beta · C, all row-major and dense; a transposed operand is stored the other way
// round.
void gemm(Transpose a, Transpose b, int64_t m, int64_t n, int64_t k, const float *A, const float *B, float beta,
          float *C);
void plainGemm(Transpose a, Transpose b, int64_t m, int64_t n, int64_t k, const float *A, const float *B, float beta,
               float *C);

} // namespace kft::run
