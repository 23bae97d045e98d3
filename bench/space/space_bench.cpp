// SPDX-License-Identifier: Apache-2.0
// How fast spaces are built and expressions evaluated. `Space/tiles` has a product of 2·10^9 with
// about 10^5 valid configurations; limits: 1 s and 200 MB.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <map>
#include <string>
#include <vector>

#include "bench/space/published_spaces.hpp"
#include "tuner/core/parameter_space.hpp"

namespace autotune {
namespace {

Parameter numbers(const std::string& name, const std::vector<std::int64_t>& values) {
  Parameter parameter{name, {}, {}, false};
  for (const std::int64_t value : values) parameter.values.emplace_back(value);
  return parameter;
}

std::vector<Expression> parsed(const std::vector<std::string>& texts) {
  std::vector<Expression> expressions;
  for (const std::string& text : texts) expressions.push_back(Expression::parse(text));
  return expressions;
}

/// A matrix product's tiles: 14 parameters under the constraints that such kernels have.
struct Tiles {
  std::vector<Parameter> parameters = {
      numbers("BM", {16, 32, 48, 64, 96, 128, 192, 256}),
      numbers("BN", {16, 32, 48, 64, 96, 128, 192, 256}),
      numbers("BK", {4, 8, 16, 32, 64}),
      numbers("TM", {1, 2, 4, 6, 8, 12, 16}),
      numbers("TN", {1, 2, 4, 6, 8, 12, 16}),
      numbers("VA", {1, 2, 4, 8}),
      numbers("VB", {1, 2, 4, 8}),
      numbers("STAGES", {1, 2, 3, 4}),
      numbers("SPLIT", {1, 2, 4, 8}),
      numbers("PAD", {0, 1, 2, 4}),
      numbers("SWIZZLE", {0, 1, 2, 4}),
      numbers("UNROLL", {1, 2, 4, 8}),
      numbers("ORDER", {0, 1, 2}),
      numbers("CACHE", {0, 1, 2}),
  };
  std::vector<Expression> constraints = parsed({
      "BM % TM == 0 && BN % TN == 0",
      "(BM / TM) * (BN / TN) >= 64 && (BM / TM) * (BN / TN) <= 256",
      "(BM / TM) * (BN / TN) % 32 == 0",
      "TM * TN <= 128 && TM * TN >= 16",
      "BM * BK % ((BM / TM) * (BN / TN) * VA) == 0",
      "BK * BN % ((BM / TM) * (BN / TN) * VB) == 0",
      "TM % VA == 0 && TN % VB == 0",
      "(BM * BK + BK * BN) * 4 * STAGES <= 49152",
      "PAD == 0 || SWIZZLE == 0",
      "BK % UNROLL == 0",
      "SPLIT == 1 || BK >= 32",
      "CACHE == ORDER",
      "STAGES > 1 || SWIZZLE == 0",
      "VA == VB || TM != TN",
      "BM * BN * SPLIT >= 16384 && BM * BN * SPLIT <= 49152",
      "UNROLL * TM * TN <= 128 && UNROLL * STAGES >= 4",
  });
};

void tiles(benchmark::State& state) {
  const Tiles tiles;
  for (auto _ : state) {
    const ParameterSpace space(tiles.parameters, tiles.constraints, {});
    state.counters["product"] = static_cast<double>(space.product());
    state.counters["valid"] = static_cast<double>(space.size());
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(tiles)->Name("Space/tiles")->Unit(benchmark::kMillisecond);

/// Constraints of many parameters each, which can be checked only late in the construction.
void late(benchmark::State& state) {
  std::vector<Parameter> parameters;
  for (const char* name : {"A", "B", "C", "D", "E", "F", "G", "H", "I"}) {
    parameters.push_back(numbers(name, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  }
  const std::vector<Expression> constraints =
      parsed({"A * B * C <= 30", "D * E * F <= 30", "G * H * I <= 30", "A + D + G == 9",
              "B * E == H * 2", "C == F", "F >= I"});
  for (auto _ : state) {
    const ParameterSpace space(parameters, constraints, {});
    state.counters["product"] = static_cast<double>(space.product());
    state.counters["valid"] = static_cast<double>(space.size());
  }
}
BENCHMARK(late)->Name("Space/late")->Unit(benchmark::kMillisecond);

void published(benchmark::State& state, const PublishedSpace& one) {
  for (auto _ : state) {
    const ParameterSpace space = one.build();
    state.counters["product"] = static_cast<double>(space.product());
    state.counters["valid"] = static_cast<double>(space.size());
  }
  state.counters["published_ms"] = one.solver_seconds * 1e3;
}

void evaluate(benchmark::State& state, const char* text) {
  const Expression expression = Expression::parse(text);
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < expression.names().size(); ++i) {
    values.push_back(static_cast<std::int64_t>(16 << i));
  }
  for (auto _ : state) benchmark::DoNotOptimize(expression.evaluate(values));
}
BENCHMARK_CAPTURE(evaluate, sum, "A + B")->Name("Expression/sum");
BENCHMARK_CAPTURE(evaluate, constraint, "(A * C + C * B) * 4 * D <= 49152 && A % D == 0")
    ->Name("Expression/constraint");

void parse(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(Expression::parse("(BM * BK + BK * BN) * 4 * STAGES <= 49152"));
  }
}
BENCHMARK(parse)->Name("Expression/parse");

}  // namespace
}  // namespace autotune

int main(int argc, char** argv) {
  for (const autotune::PublishedSpace& one : autotune::published_spaces()) {
    benchmark::RegisterBenchmark(("Published/" + one.name).c_str(), [one](benchmark::State& state) {
      autotune::published(state, one);
    })->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
