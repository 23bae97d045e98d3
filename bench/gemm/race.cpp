// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/race.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>

#include "tuner/core/deadline.hpp"

namespace autotune::bench {
namespace {

/// Launches in a batch of each implementation, from the time of a single launch.
std::vector<int> launches_of(std::span<Timer* const> implementations, L2State l2,
                             const Policy& policy) {
  std::vector<int> launches;
  for (Timer* implementation : implementations) {
    launches.push_back(launches_for(implementation->time(1, l2).seconds, policy));
  }
  return launches;
}

/// Leaves out candidates that are too slow to be the vendor's best.
std::vector<std::size_t> screened(const std::vector<std::size_t>& running,
                                  std::span<const std::vector<double>> times, double ratio) {
  double best = median(times[kSgemm]);
  for (std::size_t i = kFirstLt; i < times.size(); ++i) best = std::min(best, median(times[i]));
  std::vector<std::size_t> stay;
  for (const std::size_t i : running) {
    if (i < kFirstLt || median(times[i]) <= ratio * best) stay.push_back(i);
  }
  return stay;
}

void idle(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// The median batch in the second half of a sustained load.
double loaded(Timer& implementation, int launches, double seconds) {
  std::vector<double> times;
  const double start = steady_seconds();
  do {
    const double time = implementation.time(launches, L2State::hot).seconds;
    if (steady_seconds() - start > seconds / 2) times.push_back(time);
  } while (times.empty() || steady_seconds() - start < seconds);
  return median(times);
}

}  // namespace

std::vector<std::vector<double>> race(std::span<Timer* const> implementations, L2State l2,
                                      const RaceRules& rules, std::uint64_t seed) {
  const double start = steady_seconds();
  const std::vector<int> launches = launches_of(implementations, l2, rules.policy);
  // The graphs of these lengths are made, and replayed once, outside the blocks.
  for (std::size_t i = 0; i < implementations.size(); ++i)
    implementations[i]->time(launches[i], l2);
  std::vector<std::vector<double>> times(implementations.size());
  std::vector<std::size_t> running(implementations.size());
  std::iota(running.begin(), running.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  for (int block = 0; block < rules.most_blocks; ++block) {
    if (block >= rules.fewest_blocks && steady_seconds() - start > rules.seconds) break;
    if (block == rules.screen_blocks) running = screened(running, times, rules.hopeless_ratio);
    std::ranges::shuffle(running, random);
    for (const std::size_t i : running) {
      times[i].push_back(implementations[i]->time(launches[i], l2).seconds);
    }
  }
  return times;
}

std::vector<std::vector<double>> rested(std::span<Timer* const> implementations,
                                        std::span<const std::size_t> chosen,
                                        const SoloRules& rules) {
  std::vector<std::vector<double>> times(implementations.size());
  for (const std::size_t i : chosen) {
    Timer& implementation = *implementations[i];
    const int launches = launches_for(implementation.time(1, L2State::hot).seconds, rules.policy);
    implementation.time(launches, L2State::hot);  // makes the graph
    for (int batch = 0; batch < rules.batches; ++batch) {
      idle(rules.idle_seconds);
      times[i].push_back(implementation.time(launches, L2State::hot).seconds);
    }
  }
  return times;
}

std::vector<std::vector<double>> sustained(std::span<Timer* const> implementations,
                                           std::span<const std::size_t> chosen,
                                           const SoloRules& rules) {
  Policy policy = rules.policy;
  policy.batch_seconds = rules.load_batch_seconds;
  std::vector<std::vector<double>> times(implementations.size());
  for (const std::size_t i : chosen) {
    Timer& implementation = *implementations[i];
    const int launches = launches_for(implementation.time(1, L2State::hot).seconds, policy);
    implementation.time(launches, L2State::hot);  // makes the graph
    for (int load = 0; load < rules.loads; ++load) {
      idle(rules.idle_seconds);
      times[i].push_back(loaded(implementation, launches, rules.load_seconds));
    }
  }
  return times;
}

Standing standing_of(std::span<const std::vector<double>> times) {
  Standing standing;
  standing.ours = summarize(times[kOurs]);
  standing.sgemm = summarize(times[kSgemm]);
  standing.blocks = static_cast<int>(times[kOurs].size());
  for (std::size_t i = kFirstLt; i < times.size(); ++i) {
    if (times[i].size() < times[kOurs].size()) continue;
    const Measurement one = summarize(times[i]);
    if (standing.lt && standing.lt->median <= one.median) continue;
    standing.lt = one;
    standing.lt_candidate = i;
  }
  standing.lt_is_best = standing.lt && standing.lt->median < standing.sgemm.median;
  const std::size_t best = standing.lt_is_best ? *standing.lt_candidate : kSgemm;
  standing.ratio = paired_ratio(times[best], times[kOurs]);
  return standing;
}

}  // namespace autotune::bench
