// SPDX-License-Identifier: Apache-2.0
// The cost of asking the lookup table: exact hits, one problem again and again, 16 threads, the 8
// nearest, and opening a database of 10,000 rows.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "db/lookup.hpp"

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

}  // namespace
}  // namespace autotune::db

BENCHMARK_MAIN();
