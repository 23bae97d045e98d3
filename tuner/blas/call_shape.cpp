// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/call_shape.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "tuner/runtime/autotune.h"
#include "tuner/text/format.hpp"

namespace autotune::blas {
namespace {

constexpr std::array<std::string_view, kOutcomes> kOutcomeNames{"served",
                                                                "types",
                                                                "math mode or compute type",
                                                                "scalars on the device",
                                                                "alpha is 0",
                                                                "epilogue",
                                                                "not column-major",
                                                                "batch of pointers",
                                                                "other settings",
                                                                "empty or invalid",
                                                                "leading dimension",
                                                                "batch size or strides",
                                                                "address not aligned to 16 bytes",
                                                                "serving is off",
                                                                "being prepared",
                                                                "not tuned",
                                                                "cuBLAS is faster",
                                                                "kernel failed",
                                                                "no memory for a workspace"};

constexpr std::array<std::string_view, 9> kFunctionNames{
    "cublasSgemm",         "cublasSgemmStridedBatched",
    "cublasSgemmBatched",  "cublasSgemmGroupedBatched",
    "cublasGemmEx",        "cublasGemmStridedBatchedEx",
    "cublasGemmBatchedEx", "cublasGemmGroupedBatchedEx",
    "cublasLtMatmul"};

constexpr std::array<std::string_view, 4> kFactorNames{"none", "tensor", "rows", "blocks"};
constexpr std::array<std::string_view, 2> kSumNames{"promoted", "fast"};

using Numbered = std::pair<std::int32_t, std::string_view>;
constexpr Numbered kEpilogues[] = {{kNoEpilogue, "none"}, {kRelu, "relu"},
                                   {kBias, "bias"},       {kReluOfBias, "bias_relu"},
                                   {kGelu, "gelu"},       {kGeluOfBias, "bias_gelu"}};
/// Of cudaDataType_t.
constexpr Numbered kTypes[] = {{0, "f32"}, {1, "f64"},  {2, "f16"},   {3, "i8"},    {4, "c32"},
                               {5, "c64"}, {10, "i32"}, {14, "bf16"}, {28, "e4m3"}, {29, "e5m2"}};

/// Empty if it has none.
std::string_view name_in(std::span<const Numbered> table, std::int32_t number) {
  const auto found = std::ranges::find(table, number, &Numbered::first);
  return found == table.end() ? std::string_view() : found->second;
}

constexpr std::int64_t kLargestSize = 2147483647;

struct Matrix {
  std::int64_t rows, columns, given_leading, stride;

  /// A matrix of one column does not use its leading dimension.
  std::int64_t leading() const { return columns == 1 ? rows : given_leading; }
  bool is_packed() const { return leading() == rows; }
  /// cuBLAS checks the leading dimension of a single column too.
  bool is_valid() const { return given_leading >= rows && given_leading <= kLargestSize; }
  bool follows_itself() const { return stride == leading() * columns; }
  bool has_size_for_stride() const { return stride >= 1 && stride <= kLargestSize; }
};

struct Matrices {
  Matrix a, b, c, d;
};

Matrices matrices_of(const CallShape& s) {
  const bool a_plain = s.op_a == kNotTransposed, b_plain = s.op_b == kNotTransposed;
  return {{a_plain ? s.m : s.k, a_plain ? s.k : s.m, s.lda, s.stride_a},
          {b_plain ? s.k : s.n, b_plain ? s.n : s.k, s.ldb, s.stride_b},
          {s.m, s.n, s.ldc, s.stride_c},
          {s.m, s.n, s.ldd, s.stride_d}};
}

bool is_f32(const CallShape& s) {
  return s.a_type == kF32 && s.b_type == kF32 && s.c_type == kF32 && s.d_type == kF32;
}

/// Types of A and B. C and D have the same type, or f32.
bool is_16_bit(const CallShape& s) {
  return (s.a_type == kF16 || s.a_type == kBf16) && s.b_type == s.a_type && s.c_type == s.d_type &&
         (s.d_type == s.a_type || s.d_type == kF32);
}

bool is_output_of_8_bits(const CallShape& s) {
  return s.c_type == s.d_type && (s.d_type == kBf16 || s.d_type == kF16 || s.d_type == kF32);
}

/// cublasLt has them in this layout and of these sizes only.
bool is_8_bit_product(const CallShape& s) {
  return s.op_a == 1 && s.op_b == kNotTransposed && s.batch == 1 && s.m % 16 == 0 && s.k % 16 == 0;
}

/// Math modes that reduce the precision of f32 products do not affect 16-bit ones.
bool has_known_math(const CallShape& s) {
  const int mode = s.math_mode & kMathModes;
  return s.compute_type == kComputeF32 &&
         (mode == kDefaultMath || (is_16_bit(s) && mode != kPedanticMath));
}

bool is_size(std::int64_t size) { return size >= 1 && size <= kLargestSize; }

bool has_known_operations(const CallShape& s) {
  return s.op_a <= kConjugated && s.op_b <= kConjugated;
}

/// cuBLAS refuses a C that is too narrow even where it is not read.
bool has_valid_leading_dimensions(const CallShape& s) {
  const Matrices all = matrices_of(s);
  return all.a.is_valid() && all.b.is_valid() && all.c.is_valid() && all.d.is_valid();
}

/// Whether the predicate holds for each matrix that is read or written.
bool holds_for_all(const CallShape& s, bool (Matrix::*holds)() const) {
  const Matrices all = matrices_of(s);
  return (all.a.*holds)() && (all.b.*holds)() && (all.d.*holds)() &&
         (s.scale != Scale::beta || (all.c.*holds)());
}

bool is_usual_batch(const CallShape& s) {
  return s.batch == 1 || holds_for_all(s, &Matrix::follows_itself);
}

/// Inputs may have any stride; the matrices of D must not overlap.
bool is_strided_batch(const CallShape& s) {
  const Matrix d = matrices_of(s).d;
  return holds_for_all(s, &Matrix::has_size_for_stride) &&
         d.stride >= (d.columns - 1) * d.leading() + d.rows;
}

bool has_bias(const CallShape& s) { return (s.epilogue & kBias) != 0; }

/// The target's name for an epilogue; empty if it has none.
std::string_view epilogue_name(std::int32_t epilogue) { return name_in(kEpilogues, epilogue); }

/// A bias is passed as C. It is refused for batches, because all products would get the same one.
bool has_known_epilogue(const CallShape& s) {
  if (has_bias(s) && (s.batch > 1 || s.scale == Scale::beta)) return false;
  return !epilogue_name(s.epilogue).empty();
}

char letter(std::uint8_t operation) { return operation == kNotTransposed ? 'N' : 'T'; }

/// Of the row-major problem.
std::string layout_and_scale(const CallShape& s) {
  return format("layout={}{} scale={}", letter(s.op_b), letter(s.op_a), name_of(s.scale));
}

/// `problem` with leading dimensions and strides; what does not matter has its default.
TargetProblem at_distances(const CallShape& s, TargetProblem problem) {
  const Matrices all = matrices_of(s);
  const bool reads_c = s.scale == Scale::beta;
  const auto stride = [&](const Matrix& matrix) {
    return s.batch > 1 ? matrix.stride : AUTOTUNE_DEFAULT_SIZE;
  };
  problem.sizes.insert(
      problem.sizes.end(),
      {all.b.leading(), all.a.leading(), reads_c ? all.c.leading() : AUTOTUNE_DEFAULT_SIZE,
       all.d.leading(), stride(all.b), stride(all.a),
       reads_c ? stride(all.c) : AUTOTUNE_DEFAULT_SIZE, stride(all.d)});
  return problem;
}

}  // namespace

std::uint8_t operation_of(std::int64_t number) noexcept {
  return number >= 0 && number < 255 ? static_cast<std::uint8_t>(number) : 255;
}

Outcome contract_of(const CallShape& s) noexcept {
  const bool is_small = is_8_bit(s) && is_output_of_8_bits(s);
  if (!is_f32(s) && !is_16_bit(s) && !is_small) return Outcome::types;
  if (!has_known_math(s)) return Outcome::other_math;
  if (s.scale == Scale::on_device) return Outcome::device_scalars;
  if (!has_known_epilogue(s)) return Outcome::epilogue;
  if (s.obstacle != Outcome::served) return s.obstacle;
  if (!is_size(s.m) || !is_size(s.n) || !is_size(s.k) || !is_size(s.batch) ||
      !has_known_operations(s)) {
    return Outcome::empty;
  }
  if (is_small && !is_8_bit_product(s)) return Outcome::empty;
  if (s.scale == Scale::zero_alpha) return Outcome::zero_alpha;
  if (!has_valid_leading_dimensions(s)) return Outcome::leading_dimension;
  if (is_small && !is_packed(s)) return Outcome::leading_dimension;
  if (s.batch > 1 && !is_strided_batch(s)) return Outcome::batch;
  return s.alignment < 16 ? Outcome::unaligned : Outcome::served;
}

bool is_packed(const CallShape& s) { return holds_for_all(s, &Matrix::is_packed); }

bool is_dense(const CallShape& s) { return is_packed(s) && is_usual_batch(s); }

std::vector<TargetProblem> problems_of(const CallShape& s) {
  const auto with = [&](std::string_view setting, std::string_view value) {
    TargetProblem problem{
        "gemm",
        format("dtype={} {}={} {}", type_name(s.a_type), setting, value, layout_and_scale(s)),
        {s.n, s.m, s.k, s.batch}};
    if (s.epilogue != kNoEpilogue) {
      problem.settings += format(" epilogue={}", epilogue_name(s.epilogue));
    }
    return problem;
  };
  if (!is_f32(s)) {
    TargetProblem only = with("output", type_name(s.d_type));
    if (is_8_bit(s)) {
      only.settings += format(" scales={} sums={}", name_of(s.factors), name_of(s.sums));
    }
    return {only};
  }
  return {with("units", "fp32"), with("units", "any")};
}

TargetProblem launched_problem_of(const CallShape& s, const TargetProblem& tuned) {
  return is_dense(s) ? tuned : at_distances(s, tuned);
}

double flops_of(const CallShape& s) noexcept {
  return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) *
         static_cast<double>(s.batch);
}

std::string_view name_of(Function function) {
  return kFunctionNames[static_cast<std::size_t>(function)];
}

std::string_view name_of(Outcome outcome) {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

Outcome outcome_called(std::string_view name) {
  const auto found = std::ranges::find(kOutcomeNames, name);
  if (found == kOutcomeNames.end()) return Outcome::settings;
  return static_cast<Outcome>(found - kOutcomeNames.begin());
}

std::string_view name_of(Scale scale) {
  static constexpr std::array<std::string_view, 5> kNames{"none", "alpha", "beta", "zero",
                                                          "device"};
  return kNames[static_cast<std::size_t>(scale)];
}

bool is_8_bit(const CallShape& s) noexcept { return s.a_type == kE4m3 && s.b_type == kE4m3; }

std::string_view name_of(Factors factors) {
  return kFactorNames[static_cast<std::size_t>(factors)];
}

std::string_view name_of(Sums sums) { return kSumNames[static_cast<std::size_t>(sums)]; }

Factors factors_called(std::string_view name) {
  const auto found = std::ranges::find(kFactorNames, name);
  return found == kFactorNames.end() ? Factors::none
                                     : static_cast<Factors>(found - kFactorNames.begin());
}

Sums sums_called(std::string_view name) {
  return name == name_of(Sums::fast) ? Sums::fast : Sums::promoted;
}

std::string type_name(std::int32_t type) {
  const std::string_view name = name_in(kTypes, type);
  return name.empty() ? format("type {}", type) : std::string(name);
}

std::int32_t type_called(std::string_view name) {
  for (const std::int32_t type : {kF32, kF16, kBf16, kE4m3}) {
    if (name == type_name(type)) return type;
  }
  return -1;
}

std::string layout_of(const CallShape& s) { return {letter(s.op_a), letter(s.op_b)}; }

std::string text_of(const CallShape& s) {
  std::string text =
      format("{} {} m={} n={} k={}", name_of(s.function), layout_of(s), s.m, s.n, s.k);
  if (s.batch != 1) text += format(" batch={}", s.batch);
  if (!is_f32(s)) text += format(" {} to {}", type_name(s.a_type), type_name(s.d_type));
  if (is_8_bit(s)) text += format(" scales={} sums={}", name_of(s.factors), name_of(s.sums));
  if (s.scale != Scale::none) text += format(" scale={}", name_of(s.scale));
  if (!is_packed(s)) text += format(" lda={} ldb={} ldc={}", s.lda, s.ldb, s.ldc);
  if (s.epilogue != kNoEpilogue) text += format(" epilogue={}", s.epilogue);
  return text;
}

}  // namespace autotune::blas
