// SPDX-License-Identifier: Apache-2.0
// A strategy's own time: whole searches over gemm's space, with instant answers. Times are the cost
// model's, times an error factor that depends on the configuration.
#include <benchmark/benchmark.h>

#include <cmath>

#include "tuner/model/cost_model.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/target/catalog.hpp"

namespace {

using namespace autotune;

constexpr std::size_t kBudget = 128;
constexpr double kError = 0.3;  // maximum, of the logarithm

struct Gemm {
  explicit Gemm(const std::string& size)
      : problem(problem_of(
            target, parse_sizes(size, target.sizes, "--sizes", needed_sizes(target)).front(), {})) {
  }

  Target target = find_target("gemm");
  DeviceInfo device = device_info(find_gpu("h200"));
  Problem problem;
  ParameterSpace space = space_of(target, problem, device);
  std::vector<double> predicted = CostModel(target, problem, space, device).predict_all();
};

class Answers : public Evaluator {
 public:
  Answers(const Gemm& gemm, int batch) : gemm_(gemm), batch_(batch) {}

  const ParameterSpace& space() const override { return gemm_.space; }
  std::size_t remaining() const override { return remaining_; }
  int batch() const override { return batch_; }
  std::span<const double> predicted() const override { return gemm_.predicted; }

  std::vector<Evaluation> evaluate(std::span<const std::size_t> indices) override {
    std::vector<Evaluation> answers;
    for (const std::size_t index : indices) {
      if (remaining_ == 0) break;
      --remaining_;
      const double error = kError * std::sin(0.7 * static_cast<double>(index));
      answers.push_back({index, Outcome::ok, gemm_.predicted[index] * std::exp(error)});
    }
    return answers;
  }

 private:
  const Gemm& gemm_;
  int batch_;
  std::size_t remaining_ = kBudget;
};

void search(benchmark::State& state, const std::string& strategy, const std::string& size) {
  const Gemm gemm(size);
  for (auto _ : state) {
    Answers answers(gemm, static_cast<int>(state.range(0)));
    make_strategy(strategy)->search(answers, 1);
  }
  state.counters["configurations"] = static_cast<double>(gemm.space.size());
  state.counters["an_evaluation"] = benchmark::Counter(
      static_cast<double>(kBudget),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(search, guided_256, "guided", "256")
    ->Arg(1)
    ->Arg(8)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, guided_384, "guided", "384")
    ->Arg(1)
    ->Arg(8)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, coordinate_384, "coordinate", "384")
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
