// SPDX-License-Identifier: Apache-2.0
// The matrix product of a problem, in cuBLAS's terms.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "plugins/sdk/autotune_plugin.h"

namespace cublas {

/// What A and B are multiplied by: one factor each; one for each row of op(A) and column of op(B);
/// for 1 x 128 elements of op(A) and 128 x 128 of op(B).
enum class Scales : std::uint8_t { none, tensor, rows, blocks };

/// D = alpha op(A) op(B) + beta C + bias, `batch` times. All matrices are row-major. Lines begin
/// `lda` elements after each other, the matrices of a batch `stride_a`.
struct Product {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::int64_t lda = 0, ldb = 0, ldc = 0, ldd = 0;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0, stride_d = 0;
  std::uint32_t alignment = 0;  // bytes, of A, B and D; 0: as cublasLt assumes
  bool a_transposed = false, b_transposed = false, has_c = false, by_tf32 = false;
  bool is_fast = false;    // of types of 8 bits: tensor cores sum all of k
  bool is_scaled = false;  // D has 8 bits, a scale and a largest magnitude
  Scales scales = Scales::none;
  cudaDataType type = CUDA_R_32F, result = CUDA_R_32F;  // of A and B; of C and D
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  std::size_t a = 0, b = 0, c = 0, d = 0, bias = 0, scale_a = 0, scale_b = 0;  // of buffers
  std::size_t scale_d = 0, amax = 0;
  std::optional<std::size_t> alpha, beta;  // of scalars; without: 1 and 0

  cublasOperation_t op_a() const { return a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }
  cublasOperation_t op_b() const { return b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }
  bool is_double() const { return type == CUDA_R_64F; }
  bool has_bias() const { return epilogue != CUBLASLT_EPILOGUE_DEFAULT; }
  bool is_integer() const { return type == CUDA_R_8I; }
  bool is_float8() const { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }
  cudaDataType added() const { return is_scaled ? CUDA_R_16BF : result; }  // of C
  cudaDataType scale() const {
    return is_double() ? CUDA_R_64F : is_integer() ? CUDA_R_32I : CUDA_R_32F;
  }
  cublasComputeType_t compute() const {
    if (is_integer()) return CUBLAS_COMPUTE_32I;
    if (by_tf32) return CUBLAS_COMPUTE_32F_FAST_TF32;
    return is_double() ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
  }
  /// The function with which cuBLAS chooses an algorithm itself. nullptr where only cublasLt has
  /// the product: 8-bit types, a C of its own (cublasSgemm adds to D in place), a bias.
  const char* default_name() const;
};

/// Reads the problem. Throws std::runtime_error with the reason if cuBLAS does not have the
/// product.
Product product_of(const autotune_baseline_problem_v1& problem);

}  // namespace cublas
