// SPDX-License-Identifier: Apache-2.0
// The BLAS of this machine: OpenBLAS or BLIS, with its C interface.
#pragma once

#include <string>

namespace blas {

enum Order : int { kRowMajor = 101 };
enum Transpose : int { kPlain = 111, kTransposed = 112 };

/// cblas_sgemm and cblas_dgemm.
template <class T>
using Gemm = void (*)(Order, Transpose of_a, Transpose of_b, int m, int n, int k, T alpha,
                      const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);

struct Library {
  std::string name;  // `OpenBLAS`
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  int (*threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
};

/// The first library that the loader finds, loaded once and for good. nullptr if there is none.
/// Throws std::runtime_error if the only one there cannot be used.
const Library* found_library();

}  // namespace blas
