// SPDX-License-Identifier: Apache-2.0
// Time of autotune_prepare() on the caller's thread for a tuned size with a warm cache, and its
// parts. Needs no GPU: the driver loads a kernel at its first launch. Limit: 2 ms.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/cache/build_cache.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"
#include "tuner/runtime/autotune.h"
#include "tuner/target/catalog.hpp"

namespace {

using namespace autotune;
using Clock = std::chrono::steady_clock;

constexpr int kCalls = 200;
const std::vector<std::int64_t> kSizes = {512, 512, 512};

void check(autotune_status status) {
  if (status == AUTOTUNE_OK) return;
  std::fprintf(stderr, "prepare_bench: %s\n", autotune_message());
  std::exit(1);
}

/// Milliseconds of the first call, the median and the 99th percentile of the others.
void print_times(const char* what, const std::function<void()>& call) {
  std::vector<double> times;
  for (int i = 0; i <= kCalls; ++i) {
    const auto start = Clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  const double first = times.front();
  times.erase(times.begin());
  std::ranges::sort(times);
  std::printf("%-40s first %8.3f ms, median %7.3f ms, 99 %% %7.3f ms\n", what, first,
              times[times.size() / 2], times[times.size() * 99 / 100]);
}

/// gemm at 512 with its default configuration as the winner.
void tune(const std::filesystem::path& file, const Target& gemm, const Problem& problem,
          const DeviceInfo& gpu) {
  db::TunedStore store(file);
  db::DecisionRow row;
  row.key.device = store.add_device(device_row(gpu));
  row.key.kernel = store.add_kernel(kernel_row(gemm));
  row.key.problem = problem.text();
  row.key.policy = "l2=hot launch=graph";
  row.session = store.begin_session({});
  row.configuration = to_text(gemm.default_configuration);
  row.median_ns = 10000;
  store.add_decision(row);
}

autotune_handle* opened(const std::filesystem::path& file, const DeviceInfo& gpu) {
  autotune_options options{};
  options.size = sizeof options;
  options.target = "gemm";
  options.user_database = file.c_str();
  options.device = gpu.name.c_str();
  autotune_handle* handle = nullptr;
  check(autotune_open(&options, &handle));
  return handle;
}

}  // namespace

int main() {
  const std::filesystem::path folder = "/tmp/prepare_bench." + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  setenv("AUTOTUNE_CACHE", (folder / "cache").c_str(), 1);
  const Target gemm = find_target("gemm");
  const Problem problem =
      problem_of(gemm, {{"M", kSizes[0]}, {"N", kSizes[1]}, {"K", kSizes[2]}}, {});
  const DeviceInfo gpu = device_info(find_gpu("h200"));
  tune(folder / "tuned.db", gemm, problem, gpu);

  const auto prepare = [&](autotune_handle* handle) {
    autotune_kernel* kernel = nullptr;
    check(autotune_prepare(handle, kSizes.data(), kSizes.size(), &kernel));
    autotune_release(kernel);
  };
  autotune_handle* const first = opened(folder / "tuned.db", gpu);
  prepare(first);  // fills the cache, and starts NVRTC
  autotune_close(first);
  autotune_handle* const handle = opened(folder / "tuned.db", gpu);
  print_times("autotune_prepare", [&] { prepare(handle); });
  autotune_close(handle);

  const TargetProgram program(gemm, problem, gpu);
  const Levels levels = program.levels(gemm.default_configuration);
  const auto device = make_model_device(gpu, std::make_shared<BuildCache>(folder / "cache"));
  const SourceUnit unit = program.source_unit(levels);
  print_times("  reading the target's expressions", [&] { TargetProgram(gemm, problem, gpu); });
  print_times("  planning", [&] { program.plan(levels); });
  print_times("  writing the source", [&] { program.source_unit(levels); });
  print_times("  hashing sources, reading the cubin", [&] { device->compile(unit); });
  std::filesystem::remove_all(folder);
}
