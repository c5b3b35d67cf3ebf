#include "runtime/tensor/blas.h"
#include "runtime/tensor/random.h"
#include "runtime/tensor/tensor.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace kft::run;

TEST(Blas, LoadedWithAKernelThatFits) {
  std::string expected = blasCoreType();
  loadBlas(1);
  EXPECT_EQ(blasName().find("OpenBLAS"), 0u) << blasName();
  EXPECT_NE(blasName().find(expected), std::string::npos) << blasName();
  EXPECT_STREQ(std::getenv("OPENBLAS_NUM_THREADS"), "1");
}

TEST(Blas, WhatTheEnvironmentSaysWins) {
  std::string before = blasCoreType();
  ::setenv("OPENBLAS_CORETYPE", "Prescott", 1);
  EXPECT_EQ(blasCoreType(), "Prescott");
  ::setenv("OPENBLAS_CORETYPE", before.c_str(), 1);
}

TEST(Blas, ProductsEqualThePlainOnes) {
  loadBlas(1);
  for (int64_t m : {1, 5, 32})
    for (int64_t n : {1, 10, 33})
      for (int64_t k : {1, 7, 64})
        for (Transpose a : {Transpose::No, Transpose::Yes})
          for (Transpose b : {Transpose::No, Transpose::Yes})
            for (float beta : {0.0f, 1.0f}) {
              Buffer A(m * k), B(k * n), fast(m * n), plain(m * n);
              for (int64_t i = 0; i < m * k; ++i)
                A.data()[i] = randomUnit(1, uint64_t(i)) - 0.5f;
              for (int64_t i = 0; i < k * n; ++i)
                B.data()[i] = randomUnit(2, uint64_t(i)) - 0.5f;
              for (int64_t i = 0; i < m * n; ++i)
                fast.data()[i] = plain.data()[i] = randomUnit(3, uint64_t(i));
              gemm(a, b, m, n, k, A.data(), B.data(), beta, fast.data());
              plainGemm(a, b, m, n, k, A.data(), B.data(), beta, plain.data());
              for (int64_t i = 0; i < m * n; ++i)
                ASSERT_NEAR(fast.data()[i], plain.data()[i], 1e-5) << m << "x" << n << "x" << k;
            }
}
