// SPDX-License-Identifier: Apache-2.0
// Time of the model. Limits: 200 ns for an occupancy, 5 us for a configuration.
#include <benchmark/benchmark.h>

#include "tuner/model/cost_model.hpp"
#include "tuner/target/catalog.hpp"

namespace {

using namespace autotune;

void occupancy_of_one_input(benchmark::State& state) {
  const GpuSpec& gpu = find_gpu("h200");
  KernelShape shape{.threads = 256, .registers = 16, .dynamic_shared_bytes = 16384};
  for (auto _ : state) {
    shape.registers = 16 + (shape.registers + 1) % 200;
    benchmark::DoNotOptimize(occupancy(gpu, shape));
  }
}
BENCHMARK(occupancy_of_one_input);

struct Gemm {
  Target target = find_target("gemm");
  DeviceInfo device = device_info(find_gpu("h200"));
  Problem problem = problem_of(
      target, parse_sizes("512", target.sizes, "--sizes", needed_sizes(target)).front(), {});
  ParameterSpace space = space_of(target, problem, device);
  CostModel model{target, problem, space, device};
};

void cost_of_one_configuration(benchmark::State& state) {
  static const Gemm gemm;
  std::size_t index = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(gemm.model.estimate(index));
    index = (index + 7919) % gemm.space.size();
  }
  state.counters["configurations"] = static_cast<double>(gemm.space.size());
}
BENCHMARK(cost_of_one_configuration);

void ranking_the_whole_space(benchmark::State& state) {
  static const Gemm gemm;
  for (auto _ : state) benchmark::DoNotOptimize(gemm.model.predict_all());
  state.counters["configurations"] = static_cast<double>(gemm.space.size());
}
BENCHMARK(ranking_the_whole_space)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
