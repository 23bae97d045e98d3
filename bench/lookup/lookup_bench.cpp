// SPDX-License-Identifier: Apache-2.0
// The cost of asking the lookup table: exact hits, one problem again and again, 16 threads, the 8
// nearest, and opening a database of 10,000 rows.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include <unistd.h>

#include "db/lookup_source.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {
namespace {

constexpr int kRows = 10'000;

const LookupHolder& holder() {
  static const LookupHolder kHolder([] {
    std::vector<LookupRow> rows(kRows);
    for (int i = 0; i < kRows; ++i) {
      rows[i].sizes = {i % 100 * 16 + 16, i / 100 * 16 + 16, i % 7 * 128 + 128};
      rows[i].configuration = "BM=64 BN=64 BK=16 TM=8 TN=8";
    }
    return LookupTable(3, rows);
  }());
  return kHolder;
}

/// Every row's sizes in random order.
const std::vector<std::array<std::int64_t, 3>>& questions() {
  static const auto kQuestions = [] {
    std::vector<std::array<std::int64_t, 3>> all;
    for (const LookupRow& row : holder().table().rows()) {
      all.push_back({row.sizes[0], row.sizes[1], row.sizes[2]});
    }
    std::shuffle(all.begin(), all.end(), std::mt19937(1));
    return all;
  }();
  return kQuestions;
}

void ExactHit(benchmark::State& state) {
  const auto& asked = questions();
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(holder().table().find(asked[i]));
    if (++i == asked.size()) i = 0;
  }
}
BENCHMARK(ExactHit)->Threads(1)->Threads(16);

void RepeatedHit(benchmark::State& state) {
  const auto asked = questions().front();
  for (auto _ : state) benchmark::DoNotOptimize(holder().table().find(asked));
}
BENCHMARK(RepeatedHit)->Threads(1)->Threads(16);

void Miss(benchmark::State& state) {
  const std::array<std::int64_t, 3> asked{7, 7, 7};
  for (auto _ : state) benchmark::DoNotOptimize(holder().table().find(asked));
}
BENCHMARK(Miss);

void EightNearest(benchmark::State& state) {
  const std::array<std::int64_t, 3> asked{1037, 1031, 1055};
  LookupTable::Near near[8];
  for (auto _ : state) benchmark::DoNotOptimize(holder().table().nearest(asked, true, near));
}
BENCHMARK(EightNearest);

/// A database of 10,000 tuned problems in memory.
const std::filesystem::path& database() {
  static const std::filesystem::path kPath = [] {
    const std::filesystem::path path = format("/dev/shm/lookup_bench.{}.db", getpid());
    std::filesystem::remove(path);
    TunedStore store(path);
    DecisionRow row;
    row.key.device = store.add_device({"", "NVIDIA H200", "cuda", "", 90, 132, 0, 0, ""});
    row.key.kernel = store.add_kernel({"", "gemm", "f", "M N K"});
    row.key.policy = "l2=hot launch=graph";
    row.session = store.begin_session({});
    std::vector<TrialRow> trials;
    for (const auto& sizes : questions()) {
      TrialRow trial;
      trial.key = row.key;
      trial.key.problem = format("M={} N={} K={} dtype=f32", sizes[0], sizes[1], sizes[2]);
      trial.session = row.session;
      trial.configuration = "BM=64 BN=64 BK=16 TM=8 TN=8";
      trial.median_ns = 1000;
      trial.verified = true;
      trials.push_back(trial);
    }
    store.append(trials);
    return path;
  }();
  return kPath;
}

void Open(benchmark::State& state) {
  const Layer layer{database()};
  LookupRequest request;
  request.target = "gemm";
  request.fingerprint = "f";
  request.device = {"", "NVIDIA H200", "cuda", "", 90, 132, 0, 0, ""};
  request.size_names = "M N K";
  request.settings = "dtype=f32";
  for (auto _ : state) {
    const LookupTable table(3, read_lookup_rows({&layer, 1}, request).rows);
    if (table.size() != kRows) state.SkipWithError("rows are missing");
  }
  std::filesystem::remove(layer.path.string() + "-journal");
}
BENCHMARK(Open)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace autotune::db

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove(autotune::format("/dev/shm/lookup_bench.{}.db", getpid()));
}
