#if defined(__x86_64__)
#define KFT_LEVEL avx512
#include "runtime/tensor/kernels_body.h"
#endif
