#define KFT_LEVEL base
#include "runtime/tensor/kernels_body.h"
