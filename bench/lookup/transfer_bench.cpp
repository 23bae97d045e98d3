// SPDX-License-Identifier: Apache-2.0
// Regret of choosing for an untuned size: times every winner of a database at every tuned problem
// at which it is valid, interleaved, on GPU 0, and prints one JSON document. A test
// (tests/tuner/answer/transfer_regret_test.cpp) judges libautotune's choice by it.
//   transfer_bench DATABASE [LARGEST_SIZE] > winners.json
#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <iostream>
#include <thread>

#include "db/store.hpp"
#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/json/json.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

namespace {

using namespace autotune;

constexpr int kRounds = 9, kLaunches = 20;

/// The tuned gemms with default settings whose sizes are all at most `largest`.
std::vector<db::BestRow> tuned_problems(const db::TunedStore& store, const Target& target,
                                        std::int64_t largest) {
  std::vector<db::BestRow> rows;
  for (db::TunedEntry& entry : store.tuned({"", target.name, "", "l2=hot launch=graph"})) {
    NamedValues sizes = parse_named_values(entry.best.key.problem);
    sizes.resize(target.sizes.size());
    const bool small = std::ranges::all_of(
        sizes, [&](const NamedValue& size) { return size.value.integer() <= largest; });
    const bool plain = problem_of(target, sizes, {}).text() == entry.best.key.problem;
    if (small && plain) rows.push_back(std::move(entry.best));
  }
  return rows;
}

/// Seconds of each configuration; nothing where it is not valid, or wrong.
std::vector<std::optional<double>> times(Device& device, const Target& target,
                                         const Problem& problem,
                                         const std::vector<std::string>& configurations) {
  const DeviceInfo& info = device.info();
  const auto bench = device.open(workload_of(target, problem, info));
  std::vector<std::optional<CompiledKernel>> kernels(configurations.size());
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
      threads.emplace_back([&] {
        for (std::size_t i = next++; i < configurations.size(); i = next++) {
          const NamedValues values = parse_named_values(configurations[i]);
          if (!is_valid(target, problem, values, info)) continue;
          kernels[i] = device.compile(source_unit(target, problem, values, info));
        }
      });
    }
  }
  std::vector<std::unique_ptr<Candidate>> candidates(configurations.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!kernels[i] || kernels[i]->outcome != Outcome::ok) continue;
    try {
      const NamedValues values = parse_named_values(configurations[i]);
      auto candidate = bench->load(*kernels[i], launch_plan(target, problem, values, info));
      if (candidate->verify().outcome == Outcome::ok) candidates[i] = std::move(candidate);
    } catch (const KernelFailure&) {  // as good as not valid
    }
  }
  std::vector<std::vector<double>> rounds(candidates.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i]) rounds[i].push_back(candidates[i]->time(kLaunches, L2State::hot).seconds);
    }
  }
  std::vector<std::optional<double>> medians(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i]) continue;
    std::ranges::sort(rounds[i]);
    medians[i] = rounds[i][rounds[i].size() / 2];
  }
  return medians;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw UsageError("transfer_bench needs a database of tuned gemms");
  const std::int64_t largest = argc > 2 ? std::stoll(argv[2]) : 1024;
  const Target target = find_target("gemm");
  const db::TunedStore store(argv[1], db::Mode::read_only);
  const std::vector<db::BestRow> rows = tuned_problems(store, target, largest);
  std::vector<std::string> configurations;
  for (const db::BestRow& row : rows) configurations.push_back(row.configuration);
  configurations.push_back(to_text(target.default_configuration));

  const auto device =
      make_cuda_device(0, std::make_shared<BuildCache>(BuildCache::default_folder()));
  Json problems = Json::array();
  for (const db::BestRow& row : rows) {
    Json seconds = Json::array();
    const Problem problem{parse_named_values(row.key.problem)};
    for (const auto& one : times(*device, target, problem, configurations)) {
      seconds.push_back(one ? Json(std::round(*one * 1e12) / 1e3) : Json());
    }
    problems.push_back({{"problem", row.key.problem}, {"ns", seconds}});
    std::cerr << row.key.problem << '\n';
  }
  // Configuration i won problem i; the last is the default.
  std::cout << Json{{"device", device->info().name},
                    {"environment", device->info().environment},
                    {"configurations", configurations},
                    {"problems", problems}}
                   .dump(1)
            << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
