// SPDX-License-Identifier: Apache-2.0
// Time of a lookup in the table and in libautotune: exact hits, one problem repeatedly, 16 threads,
// the 8 nearest, opening a database of 10,000 rows, and a lock of 800 shapes. At the end, calls are
// timed one by one, for their 99th percentile.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <thread>

#include "db/lookup_source.hpp"
#include "tuner/lock/lock.hpp"
#include "tuner/runtime/autotune.h"
#include "tuner/target/catalog.hpp"
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

/// gemm of this tree.
const Target& gemm() {
  static const Target kGemm = find_target("gemm");
  return kGemm;
}

std::string settings() {
  const NamedValues ones{{"M", 1}, {"N", 1}, {"K", 1}};
  const std::string text = problem_of(gemm(), ones, {}).text();
  return text.substr(text.find("dtype"));
}

/// A database of 10,000 tuned problems in memory.
const std::filesystem::path& database() {
  static const std::filesystem::path kPath = [] {
    const std::filesystem::path path = format("/dev/shm/lookup_bench.{}.db", getpid());
    std::filesystem::remove(path);
    TunedStore store(path);
    DecisionRow row;
    row.key.device = store.add_device({"", "NVIDIA H200", "cuda", "", 90, 132, 0, 0, ""});
    row.key.kernel = store.add_kernel({"", "gemm", gemm().fingerprint, "M N K batch"});
    row.key.policy = "l2=hot launch=graph";
    row.session = store.begin_session({});
    std::vector<TrialRow> trials;
    for (const auto& sizes : questions()) {
      TrialRow trial;
      trial.key = row.key;
      trial.key.problem = format("M={} N={} K={} {}", sizes[0], sizes[1], sizes[2], settings());
      trial.session = row.session;
      trial.configuration = to_text(gemm().default_configuration);
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
  request.fingerprint = gemm().fingerprint;
  request.device = {"", "NVIDIA H200", "cuda", "", 90, 132, 0, 0, ""};
  request.size_names = "M N K batch";
  request.settings = settings();
  for (auto _ : state) {
    const LookupTable table(3, read_lookup_rows({&layer, 1}, request).rows);
    if (table.size() != kRows) state.SkipWithError("rows are missing");
  }
  std::filesystem::remove(layer.path.string() + "-journal");
}
BENCHMARK(Open)->Unit(benchmark::kMillisecond);

autotune_handle* opened() {
  autotune_options options{};
  options.size = sizeof options;
  options.target = "gemm";
  options.user_database = database().c_str();
  options.shipped_database = "";
  options.device = "NVIDIA H200";
  autotune_handle* handle = nullptr;
  if (autotune_open(&options, &handle) != AUTOTUNE_OK) throw StoreError(autotune_message());
  return handle;
}

autotune_handle* tuned() {
  static autotune_handle* const kHandle = opened();
  return kHandle;
}

/// Through the C API, as programs call it: at 1,000 sizes, of which a handle remembers what it
/// chose.
void LibraryExactHit(benchmark::State& state) {
  const auto asked = std::span(questions()).first(1000);
  autotune_handle* const lookup = tuned();
  autotune_answer answer{};
  answer.size = sizeof answer;
  for (const auto& sizes : asked) autotune_lookup(lookup, sizes.data(), 3, &answer);
  std::size_t i = 0;
  for (auto _ : state) {
    if (autotune_lookup(lookup, asked[i].data(), 3, &answer) != AUTOTUNE_OK ||
        answer.origin != AUTOTUNE_EXACT) {
      state.SkipWithError("no exact hit");
    }
    if (++i == asked.size()) i = 0;
  }
}
BENCHMARK(LibraryExactHit)->Threads(1)->Threads(16);

/// A lock of 800 shapes with a kernel of 32 KiB for every tenth.
const std::filesystem::path& lock_file() {
  static const std::filesystem::path kPath = [] {
    Lock lock;
    lock.device = {"", "NVIDIA H200", "cuda", "", 90, 132, 0, 0, ""};
    for (int i = 0; i < 80; ++i) {
      lock.kernels.push_back({format("{:032x}", i),
                              std::make_shared<const std::string>(32 << 10, static_cast<char>(i))});
    }
    LockedTarget& target = lock.targets.emplace_back();
    target.target = "gemm";
    target.fingerprint = gemm().fingerprint;
    target.sizes = size_names(gemm());
    target.key_sizes = gemm().sizes.size();
    target.settings = settings();
    target.policy = "l2=hot launch=graph context=between";
    for (std::size_t i = 0; i < 800; ++i) {
      LockedAnswer& answer = target.answers.emplace_back();
      const auto& sizes = questions()[i];
      answer.sizes = {sizes[0], sizes[1], sizes[2], 1};
      answer.sizes.resize(target.sizes.size(), kDefaultSize);
      answer.last = sizes[0];
      answer.configuration = to_text(gemm().default_configuration);
      answer.kernel = i / 10;
      answer.median_ns = 1000;
    }
    const std::filesystem::path path = format("/dev/shm/lookup_bench.{}.lock", getpid());
    std::ofstream(path, std::ios::binary) << lock_text(lock);
    return path;
  }();
  return kPath;
}

autotune_handle* opened_lock_handle() {
  autotune_options options{};
  options.size = sizeof options;
  options.target = "gemm";
  options.user_database = lock_file().c_str();
  autotune_handle* handle = nullptr;
  if (autotune_open(&options, &handle) != AUTOTUNE_OK) throw StoreError(autotune_message());
  return handle;
}

void LockOpen(benchmark::State& state) {
  for (auto _ : state) autotune_close(opened_lock_handle());
}
BENCHMARK(LockOpen)->Unit(benchmark::kMillisecond);

/// From a closed lock to kernels that can be launched; a GPU loads each kernel at its first launch.
void LockReady(benchmark::State& state) {
  for (auto _ : state) {
    autotune_handle* const handle = opened_lock_handle();
    std::vector<autotune_kernel*> kernels;
    for (std::size_t i = 0; i < 800; ++i) {
      const std::array<std::int64_t, 4> sizes{questions()[i][0], questions()[i][1],
                                              questions()[i][2], 1};
      if (autotune_prepare(handle, sizes.data(), 4, &kernels.emplace_back()) != AUTOTUNE_OK) {
        state.SkipWithError(autotune_message());
      }
    }
    for (autotune_kernel* const kernel : kernels) autotune_release(kernel);
    autotune_close(handle);
  }
}
BENCHMARK(LockReady)->Unit(benchmark::kMillisecond);

void LockTableHit(benchmark::State& state) {
  const Lock lock = read_lock(lock_file());
  const LockTable table(lock.targets.front());
  std::size_t i = 0;
  for (auto _ : state) {
    const std::array<std::int64_t, 4> sizes{questions()[i][0], questions()[i][1], questions()[i][2],
                                            1};
    benchmark::DoNotOptimize(table.find(sizes));
    if (++i == 800) i = 0;
  }
}
BENCHMARK(LockTableHit);

/// Through the C API.
void LockHit(benchmark::State& state) {
  static autotune_handle* const kHandle = opened_lock_handle();
  autotune_answer answer{};
  answer.size = sizeof answer;
  std::size_t i = 0;
  for (auto _ : state) {
    const std::array<std::int64_t, 4> sizes{questions()[i][0], questions()[i][1], questions()[i][2],
                                            1};
    if (autotune_lookup(kHandle, sizes.data(), 4, &answer) != AUTOTUNE_OK) {
      state.SkipWithError(autotune_message());
    }
    if (++i == 800) i = 0;
  }
}
BENCHMARK(LockHit)->Threads(1)->Threads(16);

/// Sizes that were not tuned: the cost model judges what is good at near ones, once a problem.
void LibraryTransfer(benchmark::State& state) {
  const std::filesystem::path path = format("/dev/shm/lookup_bench.{}.few.db", getpid());
  {
    TunedStore store(path);
    DecisionRow row;
    row.key.device = store.add_device({"", "NVIDIA H200", "cuda", "", 90, 132, 0, 0, ""});
    row.key.kernel = store.add_kernel({"", "gemm", gemm().fingerprint, "M N K batch"});
    row.key.policy = "l2=hot launch=graph";
    row.session = store.begin_session({});
    row.configuration = row.default_configuration = to_text(gemm().default_configuration);
    row.median_ns = row.default_ns = 10000;
    for (int size = 128; size <= 2048; size += 128) {
      row.key.problem = format("M={0} N={0} K={0} {1}", size, settings());
      store.add_decision(row);
    }
  }
  autotune_options options{};
  options.size = sizeof options;
  options.target = "gemm";
  options.user_database = path.c_str();
  options.shipped_database = "";
  options.device = "NVIDIA H200";
  autotune_handle* lookup = nullptr;
  autotune_open(&options, &lookup);
  std::filesystem::remove(path);
  autotune_answer answer{};
  answer.size = sizeof answer;
  std::int64_t size = 129;
  for (auto _ : state) {
    const std::int64_t sizes[] = {size, size + 1, size + 2};
    if (autotune_lookup(lookup, sizes, 3, &answer) != AUTOTUNE_OK) state.SkipWithError("failed");
    size = size < 2000 ? size + 3 : 130 + size % 7;
  }
  autotune_close(lookup);
}
BENCHMARK(LibraryTransfer)->Unit(benchmark::kMicrosecond)->Iterations(600);

using Clock = std::chrono::steady_clock;

/// Nanoseconds of each of `count` calls, the clock's own included, sorted.
template <class Call>
std::vector<double> one_by_one(int count, const Call& call) {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const auto start = Clock::now();
    call(static_cast<std::size_t>(i));
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return times;
}

/// Of all threads' calls together.
template <class Call>
void print_percentiles(const char* what, int threads, const Call& call) {
  constexpr int kCalls = 200'000;
  std::vector<std::vector<double>> times(static_cast<std::size_t>(threads));
  std::vector<std::thread> workers;
  for (auto& own : times) workers.emplace_back([&] { own = one_by_one(kCalls, call); });
  for (std::thread& worker : workers) worker.join();
  std::vector<double> all;
  for (const auto& own : times) all.insert(all.end(), own.begin(), own.end());
  std::ranges::sort(all);
  const auto at = [&](double share) {
    return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
  };
  std::printf("%-44s median %4.0f ns, p99 %4.0f ns, p99.9 %5.0f ns\n", what, at(0.5), at(0.99),
              at(0.999));
}

void print_all_percentiles() {
  const auto& asked = questions();
  autotune_handle* const lookup = tuned();
  const auto hit = [&](std::size_t i) {
    autotune_answer answer{};
    answer.size = sizeof answer;
    benchmark::DoNotOptimize(autotune_lookup(lookup, asked[i % asked.size()].data(), 3, &answer));
  };
  print_percentiles("the clock alone", 1, [](std::size_t) {});
  print_percentiles("autotune_lookup, exact, 1 thread", 1, hit);
  print_percentiles("autotune_lookup, exact, 16 threads", 16, hit);
}

}  // namespace

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  print_all_percentiles();
  autotune_close(tuned());
  std::filesystem::remove(database());
  return 0;
}

}  // namespace autotune::db

int main(int argc, char** argv) try {
  return autotune::db::run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
