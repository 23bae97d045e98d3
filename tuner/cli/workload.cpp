// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/workload.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <map>
#include <regex>
#include <system_error>

#include "tuner/blas/call_shape.hpp"
#include "tuner/core/error.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"

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
  s.factors = blas::factors_called(line.value("scales", ""));
  s.sums = blas::sums_called(line.value("sums", ""));
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

namespace {

/// Estimates a call's time before tuning: the rate of a large product, and a launch.
constexpr double kFlopsPerSecond = 40e12, kLaunchSeconds = 3e-6, kLeastSeconds = 1;

double weight_of(const RecordedCall& call) {
  return call.calls * (blas::flops_of(call.shape) / kFlopsPerSecond + kLaunchSeconds);
}

std::vector<RecordedCall> calls_in(const std::filesystem::path& file, int& unknown) {
  const std::string why = why_unreadable(file, std::numeric_limits<std::uint64_t>::max());
  if (!why.empty()) {
    throw Error(
        format("{}: cannot be read: {}; name a file that autotune run --record wrote, or "
               "TunableOp's CSV of untuned shapes",
               file.string(), why));
  }
  std::ifstream stream(file);
  const bool is_csv = file.extension() == ".csv";
  std::vector<RecordedCall> calls;
  int number = 0, first_unknown = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.empty() || line.starts_with("Validator,")) continue;
    if (const auto call = is_csv ? tunable_op_call(line) : recorded_call(line)) {
      calls.push_back(*call);
    } else if (++unknown == 1) {
      first_unknown = number;
    }
  }
  if (calls.empty() && unknown > 0 && !is_csv) {
    throw Error(format("{}, line {}: is not a call of cuBLAS, as autotune run --record writes them",
                       file.string(), first_unknown));
  }
  return calls;
}

/// nullopt for a call that the target does not serve.
std::optional<Problem> problem_for(const blas::CallShape& shape, const Target& target,
                                   const NamedValues& settings) {
  if (blas::contract_of(shape) != blas::Outcome::served) return std::nullopt;
  const std::vector<blas::TargetProblem> problems = blas::problems_of(shape);
  for (auto one = problems.rbegin(); one != problems.rend(); ++one) {  // any units first
    if (one->target != target.name) continue;
    NamedValues sizes;
    for (std::size_t i = 0; i < target.sizes.size(); ++i) {
      sizes.push_back({target.sizes[i], one->sizes[i]});
    }
    const Problem problem = problem_of(target, sizes, parse_named_values(one->settings));
    if (has_all(problem.values, settings)) return problem;
  }
  return std::nullopt;
}

/// What to do about a file without a call for the target and the settings.
std::string advice_for(const std::filesystem::path& file, const std::vector<RecordedCall>& calls) {
  const auto is_served = [](const RecordedCall& call) {
    return blas::contract_of(call.shape) == blas::Outcome::served;
  };
  if (std::ranges::any_of(calls, is_served)) {
    return "its calls are for --target gemm, with other settings than --set names";
  }
  return file.extension() == ".csv"
             ? "docs/blas.md says which products are served"
             : "autotune run --report -- COMMAND says why each call is passed on";
}

struct Weighted {
  Problem problem;
  double weight = 0;
};

std::vector<Weighted> heaviest_first(const std::map<std::string, Weighted>& problems) {
  std::vector<Weighted> sorted;
  for (const auto& [text, one] : problems) sorted.push_back(one);
  std::ranges::stable_sort(sorted, std::greater<>(), &Weighted::weight);
  return sorted;
}

/// Keeps the heaviest problems that each get enough of the time.
void keep_affordable(std::vector<Weighted>& problems, const Budget& budget) {
  if (budget.kind != Budget::Kind::seconds) return;
  double sum = 0;
  const auto gets_too_little = [&](const Weighted& one) {
    sum += one.weight;
    return budget.amount * one.weight < kLeastSeconds * sum;
  };
  const auto end = std::find_if(problems.begin() + 1, problems.end(), gets_too_little);
  problems.erase(end, problems.end());
}

}  // namespace

std::vector<RecordedCall> recorded_calls(const std::filesystem::path& file) {
  int unknown = 0;
  return calls_in(file, unknown);
}

Workload read_workload(const std::filesystem::path& file, const Target& target,
                       const NamedValues& settings, const Budget& budget) {
  int unknown = 0;
  double all = 0, kept = 0;
  const std::vector<RecordedCall> calls = calls_in(file, unknown);
  std::map<std::string, Weighted> problems;
  for (const RecordedCall& call : calls) {
    all += weight_of(call);
    const std::optional<Problem> problem = problem_for(call.shape, target, settings);
    if (!problem) continue;
    Weighted& one = problems.try_emplace(problem->text(), Weighted{*problem, 0}).first->second;
    one.weight += weight_of(call);
  }
  if (problems.empty()) {
    throw Error(format("{}: has no call that kernels of {} could serve{}: {}", file.string(),
                       target.name, settings.empty() ? "" : " with --set " + to_text(settings),
                       advice_for(file, calls)));
  }
  std::vector<Weighted> chosen = heaviest_first(problems);
  keep_affordable(chosen, budget);
  Workload workload;
  for (const Weighted& one : chosen) {
    kept += one.weight;
    workload.problems.push_back(one.problem);
    workload.weights.push_back(one.weight);
  }
  if (kept < 0.9999 * all || unknown > 0) {
    workload.left_out = format(
        "{}: {} of {} {} tuned, {:.1f} % of the estimated time of "
        "its calls{}",
        file.string(), count_text(chosen.size(), "problem"), target.name,
        chosen.size() == 1 ? "is" : "are", 100 * kept / all,
        unknown > 0 ? format("; {} other line{} left out", unknown, unknown == 1 ? " is" : "s are")
                    : "");
  }
  return workload;
}

}  // namespace autotune::cli
