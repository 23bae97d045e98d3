// SPDX-License-Identifier: Apache-2.0
// The shape of a call: all that decides whether and how it is served, without its addresses.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace autotune::blas {

/// The functions that are taken, without the suffix of their 64-bit forms.
enum class Function : std::uint8_t {
  sgemm,
  sgemm_strided_batched,
  gemm_ex,
  gemm_strided_batched_ex,
  lt_matmul
};

/// D = op(A) op(B), D = alpha op(A) op(B), D = alpha op(A) op(B) + beta C.
enum class Scale : std::uint8_t { none, alpha, beta, zero_alpha, on_device };

/// What became of a call: served, or why it was passed on.
enum class Outcome : std::uint8_t {
  served,
  types,
  other_math,
  device_scalars,
  zero_alpha,
  epilogue,
  order,
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
inline constexpr std::size_t kOutcomes = 17;

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
  std::uint8_t alignment = 16;   // of the least aligned address, in bytes, at most 16
  std::uint8_t other_order = 0;  // 1: not all of the matrices are column-major
  std::array<std::uint8_t, 2> unused{};

  bool operator==(const CallShape&) const = default;
};
static_assert(std::has_unique_object_representations_v<CallShape>);

/// Outcome::served if the kernels compute the same as cuBLAS for such a call, else why they do not.
Outcome contract_of(const CallShape& shape) noexcept;

/// A row-major problem of a target with the same bytes in memory: operands are swapped.
struct TargetProblem {
  std::string target, settings;
  std::vector<std::int64_t> sizes;

  bool operator==(const TargetProblem&) const = default;
};

/// The problems whose results may decide about a shape within the contract: matrices are packed,
/// and there is no epilogue. gemm or gemm_batched, then gemm_split; in 16 bits gemm16 or
/// gemm16_batched.
std::vector<TargetProblem> problems_of(const CallShape& shape);

/// What is launched, with a configuration of this one of the problems above or of one without alpha
/// and beta: the same, or a problem with the shape's leading dimensions and epilogue.
TargetProblem launched_problem_of(const CallShape& shape, const TargetProblem& tuned);

/// Whether all leading dimensions are those of packed matrices.
bool is_packed(const CallShape& shape);
/// And the matrices of a batch lie one behind another.
bool is_dense(const CallShape& shape);

double flops_of(const CallShape& shape) noexcept;

std::string_view name_of(Function function);
/// `being prepared`; as a table shows it.
std::string_view name_of(Outcome outcome);
/// `f32`; `type 33` for one without a name here.
std::string type_name(std::int32_t type);
/// -1 for a name that the targets do not know.
std::int32_t type_called(std::string_view name);
/// `cublasSgemm NT m=512 n=512 k=512`, and what differs from the usual.
std::string text_of(const CallShape& shape);
/// `NT`.
std::string layout_of(const CallShape& shape);
std::string_view name_of(Scale scale);

}  // namespace autotune::blas
