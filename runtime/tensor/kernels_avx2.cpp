#if defined(__x86_64__)
#define KFT_LEVEL avx2
#include "runtime/tensor/kernels_body.h"
#endif
