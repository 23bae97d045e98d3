// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/workload_file.hpp"

#include <charconv>
#include <regex>
#include <system_error>

#include "tuner/blas/cublas_abi.hpp"
#include "tuner/json/json.hpp"

namespace autotune::cli {
namespace {

using blas::CallShape;
using blas::Scale;

constexpr std::int64_t kMostElements = 2147483647;  // of a size

std::uint8_t operation_of(char letter) { return letter == 'N' || letter == 'n' ? 0 : 1; }

Scale scale_of(const std::string& name) {
  for (const Scale scale : {Scale::none, Scale::alpha, Scale::beta, Scale::zero_alpha}) {
    if (name == blas::name_of(scale)) return scale;
  }
  return Scale::on_device;
}

std::int32_t tunable_op_type(const std::string& name) {
  if (name == "Half") return blas::kF16;
  return name == "BFloat16" ? blas::kBf16 : blas::kF32;
}

CallShape shape_of(const Json& line) {
  CallShape s;
  const std::string layout = line.at("layout");
  s.op_a = operation_of(layout.at(0)), s.op_b = operation_of(layout.at(1));
  s.m = line.at("m"), s.n = line.at("n"), s.k = line.at("k"), s.batch = line.at("batch");
  s.lda = line.at("lda"), s.ldb = line.at("ldb"), s.ldc = line.at("ldc"), s.ldd = line.at("ldd");
  s.stride_a = line.at("stride_a"), s.stride_b = line.at("stride_b");
  s.stride_c = line.at("stride_c"), s.stride_d = line.at("stride_d");
  const Json& types = line.at("types");
  const auto type = [&](std::size_t at) {
    return blas::type_called(types.at(at).get<std::string>());
  };
  s.a_type = type(0), s.b_type = type(1), s.c_type = type(2), s.d_type = type(3);
  s.compute_type = line.at("compute_type"), s.math_mode = line.at("math_mode");
  s.scale = scale_of(line.at("scale"));
  s.epilogue = line.at("epilogue"), s.alignment = line.at("alignment");
  const std::string obstacle = line.value("obstacle", "");  // earlier versions wrote none
  if (!obstacle.empty()) s.obstacle = blas::outcome_called(obstacle);
  if (!line.at("column_major").get<bool>()) s.obstacle = blas::Outcome::order;
  return s;
}

}  // namespace

std::optional<RecordedCall> recorded_call(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    return RecordedCall{shape_of(json), json.at("calls").get<double>()};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<RecordedCall> tunable_op_call(const std::string& line) {
  static const std::regex pattern(
      "Gemm(AndBias|StridedBatched)?TunableOp_(float|Half|BFloat16)_[NT][NT],"
      "([nt])([nt])_(\\d+)_(\\d+)_(\\d+)"
      "(_B_(\\d+))?(_ld_(\\d+)_(\\d+)_(\\d+))?\\s*(,.*)?");
  std::smatch match;
  if (!std::regex_match(line, match, pattern)) return std::nullopt;
  bool is_sized = true;
  const auto number = [&](std::size_t group, std::int64_t otherwise) {
    if (!match[group].matched) return otherwise;
    std::int64_t value = 0;
    const std::string digits = match[group];
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    is_sized &= error == std::errc() && value <= kMostElements;
    return value;
  };
  CallShape s;
  s.a_type = s.b_type = s.c_type = s.d_type = tunable_op_type(match[2]);
  s.op_a = operation_of(match[3].str()[0]), s.op_b = operation_of(match[4].str()[0]);
  s.m = number(5, 0), s.n = number(6, 0), s.k = number(7, 0), s.batch = number(9, 1);
  s.lda = number(11, s.op_a == 0 ? s.m : s.k), s.ldb = number(12, s.op_b == 0 ? s.k : s.n);
  s.ldc = s.ldd = number(13, s.m);
  if (!is_sized) return std::nullopt;
  s.stride_a = s.m * s.k, s.stride_b = s.k * s.n, s.stride_c = s.stride_d = s.m * s.n;
  s.compute_type = blas::kComputeF32;
  s.epilogue = match[1] == "AndBias" ? blas::kBias : blas::kNoEpilogue;
  return RecordedCall{s, 1};
}

}  // namespace autotune::cli
