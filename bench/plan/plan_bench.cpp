// SPDX-License-Identifier: Apache-2.0
// Time to load a target, to compile it for a problem, and to make a plan. Needs no GPU. Limit for a
// plan: 1 us.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "tuner/core/target_program.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

constexpr std::size_t kSamples = 1000;

DeviceInfo h200() { return device_info(find_gpu("h200")); }

std::string manifest_of(const std::string& name) {
  return AUTOTUNE_SOURCE_DIR "/kernel_sources/" + name + "/" + name + ".target.toml";
}

/// A target at 512, with configurations from all of its space.
struct Case {
  explicit Case(const std::string& name) : target(load_manifest(manifest_of(name))) {
    NamedValues sizes;
    for (const std::string& size : target.sizes) sizes.push_back({size, 512});
    problem = problem_of(target, sizes, {});
    const ParameterSpace space = space_of(target, problem, h200());
    for (std::size_t i = 0; i < kSamples; ++i) {
      levels.push_back(space.levels(i * space.size() / kSamples));
    }
  }

  Target target;
  Problem problem;
  std::vector<Levels> levels;
};

void load(benchmark::State& state, const std::string& name) {
  for (auto _ : state) benchmark::DoNotOptimize(load_manifest(manifest_of(name)));
}

void compile(benchmark::State& state, const std::string& name) {
  const Case one(name);
  const DeviceInfo device = h200();
  for (auto _ : state) TargetProgram(one.target, one.problem, device);
}

void plan(benchmark::State& state, const std::string& name) {
  const Case one(name);
  const TargetProgram program(one.target, one.problem, h200());
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(program.plan(one.levels[i++ % kSamples]));
}

void validity(benchmark::State& state, const std::string& name) {
  const Case one(name);
  const TargetProgram program(one.target, one.problem, h200());
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(program.is_valid(one.levels[i++ % kSamples]));
}

}  // namespace
}  // namespace autotune

int main(int argc, char** argv) {
  using namespace autotune;
  for (const std::string name : {"vector_add", "convolution_2d", "gemm"}) {
    benchmark::RegisterBenchmark(("Load/" + name).c_str(), load, name);
    benchmark::RegisterBenchmark(("Compile/" + name).c_str(), compile, name);
    benchmark::RegisterBenchmark(("Plan/" + name).c_str(), plan, name);
    benchmark::RegisterBenchmark(("IsValid/" + name).c_str(), validity, name);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
