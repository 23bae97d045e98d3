// SPDX-License-Identifier: Apache-2.0
// cuBLAS's binary interface, and the shape of a call: everything but addresses that decides whether
// and how it is served.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace autotune::blas {

// cuBLAS's binary interface since version 11. Without CUDA's headers, one library serves programs
// of every version.

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

/// The intercepted functions, without the suffix of their 64-bit forms.
enum class Function : std::uint8_t {
  sgemm,
  sgemm_strided_batched,
  sgemm_batched,
  sgemm_grouped_batched,
  gemm_ex,
  gemm_strided_batched_ex,
  gemm_batched_ex,
  gemm_grouped_batched_ex,
  lt_matmul
};

/// D = op(A) op(B), D = alpha op(A) op(B), D = alpha op(A) op(B) + beta C.
enum class Scale : std::uint8_t { none, alpha, beta, zero_alpha, on_device };

/// By which operands of 8 bits are multiplied: settings `scales` and `sums` of gemm.
enum class Factors : std::uint8_t { none, tensor, rows, blocks };
enum class Sums : std::uint8_t { promoted, fast };

/// What became of a call: served, or why it was passed on.
enum class Outcome : std::uint8_t {
  served,
  types,
  other_math,
  device_scalars,
  zero_alpha,
  epilogue,
  order,
  pointers,
  settings,
  empty,
  leading_dimension,
  batch,
  unaligned,
  switched_off,
  preparing,
  not_tuned,
  vendor_faster,
  failed,
  no_workspace
};
inline constexpr std::size_t kOutcomes = 19;

/// Column-major, as cuBLAS has it: D[m,n] = alpha op(A)[m,k] op(B)[k,n] + beta C[m,n], `batch`
/// times. Compared and hashed as bytes.
struct CallShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0, ldd = 0;  // elements, as strides
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0, stride_d = 0;
  std::int64_t batch = 1;
  std::int32_t a_type = 0, b_type = 0, c_type = 0, d_type = 0;  // cudaDataType_t
  std::int32_t compute_type = 0;                                // cublasComputeType_t
  std::int32_t math_mode = 0;                                   // cublasMath_t
  std::int32_t epilogue = 0;                                    // cublasLtEpilogue_t
  std::int32_t device = -1;  // its ordinal; -1 where it does not matter
  Function function = Function::sgemm;
  std::uint8_t op_a = 0, op_b = 0;  // cublasOperation_t
  Scale scale = Scale::none;
  std::uint8_t alignment = 16;  // of the least aligned address, in bytes, at most 16
  Outcome obstacle =
      Outcome::served;  // why no kernel serves it, if the other members do not show it
  Factors factors = Factors::none;
  Sums sums = Sums::promoted;

  bool operator==(const CallShape&) const = default;
};
static_assert(std::has_unique_object_representations_v<CallShape>);

/// 255, which is none, for a number that does not fit.
std::uint8_t operation_of(std::int64_t number) noexcept;

/// Outcome::served if tuned kernels compute the same as cuBLAS for this shape, else the reason.
/// Whatever cuBLAS itself refuses has a reason.
Outcome contract_of(const CallShape& shape) noexcept;

/// A row-major problem of a target with the same bytes in memory, so its operands are swapped.
struct TargetProblem {
  std::string target, settings;
  std::vector<std::int64_t> sizes;

  bool operator==(const TargetProblem&) const = default;
};

/// The problems whose results decide about a shape within the contract. Their matrices are packed.
/// In f32 first with FP32 units only: what a call's leading dimensions and strides rule out on
/// tensor cores is served by these.
std::vector<TargetProblem> problems_of(const CallShape& shape);

/// The problem to launch, with a configuration of `tuned`, one of the problems above: it is `tuned`
/// itself, or has the shape's leading dimensions.
TargetProblem launched_problem_of(const CallShape& shape, const TargetProblem& tuned);

/// Whether all matrices are packed: without gaps between columns.
bool is_packed(const CallShape& shape);
/// Whether also the matrices of a batch follow each other without gaps.
bool is_dense(const CallShape& shape);

double flops_of(const CallShape& shape) noexcept;

std::string_view name_of(Function function);
/// As reports show it: `being prepared`.
std::string_view name_of(Outcome outcome);
/// Outcome::settings, which no kernel serves, for a name that no outcome has.
Outcome outcome_called(std::string_view name);
/// Whether A and B have 8 bits: then factors and sums matter.
bool is_8_bit(const CallShape& shape) noexcept;
std::string_view name_of(Factors factors);
std::string_view name_of(Sums sums);
/// Those with such a name; the first for a name that none has.
Factors factors_called(std::string_view name);
Sums sums_called(std::string_view name);
/// `f32`; `type 33` for one without a name here.
std::string type_name(std::int32_t type);
/// -1 for a name that no target has.
std::int32_t type_called(std::string_view name);
/// `cublasSgemm NT m=512 n=512 k=512`, then what is not the default.
std::string text_of(const CallShape& shape);
/// `NT`.
std::string layout_of(const CallShape& shape);
std::string_view name_of(Scale scale);

}  // namespace autotune::blas
