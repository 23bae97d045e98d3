// SPDX-License-Identifier: Apache-2.0
// cuBLAS's binary interface since version 11. Without CUDA's headers, one library serves programs
// of every version.
#pragma once

#include <array>

namespace autotune::blas {

using Status = int;        // cublasStatus_t
using BlasHandle = void*;  // cublasHandle_t, cublasLtHandle_t
using Stream = void*;      // cudaStream_t

inline constexpr Status kSuccess = 0;
inline constexpr Status kNotInitialized = 1;

inline constexpr int kNotTransposed = 0;  // CUBLAS_OP_N; T is 1, C is 2
inline constexpr int kConjugated = 2;
inline constexpr int kHostScalars = 0;  // CUBLAS_POINTER_MODE_HOST

inline constexpr int kF32 = 0;          // CUDA_R_32F
inline constexpr int kF16 = 2;          // CUDA_R_16F
inline constexpr int kBf16 = 14;        // CUDA_R_16BF
inline constexpr int kE4m3 = 28;        // CUDA_R_8F_E4M3
inline constexpr int kComputeF32 = 68;  // CUBLAS_COMPUTE_32F
inline constexpr int kMathModes = 0xf;  // higher bits do not change f32 products
inline constexpr int kDefaultMath = 0;  // CUBLAS_DEFAULT_MATH
inline constexpr int kPedanticMath = 2;
inline constexpr int kColumnMajor = 0;  // CUBLASLT_ORDER_COL
inline constexpr int kStrided = 0;      // CUBLASLT_BATCH_MODE_STRIDED
inline constexpr int kPointers = 1;     // CUBLASLT_BATCH_MODE_POINTER_ARRAY

/// Those of cublasLtEpilogue_t that tuned kernels have: ReLU or GELU, with or without a bias.
inline constexpr int kNoEpilogue = 1;
inline constexpr int kRelu = 2, kBias = 4, kReluOfBias = 6, kGelu = 32, kGeluOfBias = 36;

/// Whether it is one of cublasGemmAlgo_t: the default, one of the numbered ones, those with tensor
/// cores, or CUBLAS_GEMM_AUTOTUNE.
constexpr bool is_algorithm(int number) {
  return (number >= -1 && number <= 23) || (number >= 99 && number <= 115) || number == 999;
}

/// Those of cublasLtMatmulDescAttributes_t that kernels obey, or that change nothing for them.
enum class OperationAttribute : int {
  compute_type = 0,
  scale_type = 1,
  pointer_mode = 2,
  op_a = 3,
  op_b = 4,
  op_c = 5,
  epilogue = 7,
  bias_pointer = 8,
  bias_type = 26
};

inline constexpr std::array kObeyedAttributes{
    OperationAttribute::compute_type, OperationAttribute::scale_type,
    OperationAttribute::pointer_mode, OperationAttribute::op_a,
    OperationAttribute::op_b,         OperationAttribute::op_c,
    OperationAttribute::epilogue,     OperationAttribute::bias_pointer,
    OperationAttribute::bias_type};

/// Those that kernels obey in products of 8 bits.
enum class FactorAttribute : int {
  a_pointer = 17,
  b_pointer = 18,
  fast_sums = 25,
  a_mode = 31,
  b_mode = 32
};
inline constexpr std::array kFactorAttributes{
    FactorAttribute::a_pointer, FactorAttribute::b_pointer, FactorAttribute::fast_sums,
    FactorAttribute::a_mode, FactorAttribute::b_mode};

/// Those of cublasLtMatmulMatrixScale_t that kernels have: one factor, those of rows or columns, of
/// 1 x 128 elements and of 128 x 128.
inline constexpr int kOneFactor = 0, kFactorsOfLines = 3, kFactorsOf128 = 4, kFactorsOf128x128 = 5;

/// Those of cublasLtMatrixLayoutAttribute_t that are in the 64 bytes of a layout. A newer cublasLt
/// may have more.
enum class LayoutAttribute : int {
  type = 0,
  order = 1,
  rows = 2,
  columns = 3,
  leading_dimension = 4,
  batch = 5,
  stride = 6,
  plane_offset = 7,
  batch_mode = 8
};
inline constexpr int kLayoutAttributes = 9;

}  // namespace autotune::blas
