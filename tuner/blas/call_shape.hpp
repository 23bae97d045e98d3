// SPDX-License-Identifier: Apache-2.0
// The shape of a call: everything but addresses that decides whether and how it is served.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace autotune::blas {

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
