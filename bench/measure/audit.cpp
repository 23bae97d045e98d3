// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/audit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace autotune {
namespace {

std::size_t play_off_best(std::span<Timer* const> timers, const Policy& policy, std::uint64_t seed,
                          double clock_hz, const std::function<void()>& reallocate, Round& round) {
  std::vector<Measurement> searched;
  for (const Judgement& judgement : round.judgements) {
    const bool timed = judgement.outcome == Outcome::ok;
    searched.push_back(judgement.measurement);
    if (!timed) searched.back().median = std::numeric_limits<double>::infinity();
  }
  std::vector<std::size_t> chosen = choose_finalists(searched, policy);
  if (std::ranges::find(chosen, std::size_t{0}) == chosen.end()) chosen.push_back(0);
  std::vector<Finalist> finalists;
  for (const std::size_t i : chosen) {
    finalists.push_back({timers[i], round.judgements[i].measurement.median, i == 0, false});
  }
  Reallocate half_way;
  if (reallocate) half_way = [&](std::span<Finalist>) { reallocate(); };
  const PlayoffResult result = play_off(finalists, policy, seed, half_way, clock_hz);
  round.noise_floor = result.noise_floor;
  return chosen[result.winner.value()];
}

}  // namespace

Round judge_and_play_off(std::span<Timer* const> timers, const Policy& policy, std::uint64_t seed,
                         const Anchor::Clock& now, const std::function<void()>& prepare,
                         const std::function<void()>& reallocate) {
  Round round;
  Anchor anchor(*timers[0], policy, now);
  double best = 0;
  for (Timer* const timer : timers) {
    if (prepare) prepare();
    round.judgements.push_back(judge(*timer, best, policy, anchor));
    if (round.judgements.back().leads) best = round.judgements.back().measurement.median;
  }
  round.chosen = play_off_best(timers, policy, seed, anchor.clock_hz(), reallocate, round);
  return round;
}

std::vector<double> interleaved_times(std::span<Timer* const> timers, int blocks,
                                      const Policy& policy, std::uint64_t seed) {
  std::vector<int> launches;
  for (Timer* const timer : timers) {
    const int first = launches_for(timer->time(1, policy.l2).seconds, policy);
    launches.push_back(launches_for(timer->time(first, policy.l2).seconds, policy));
  }
  std::mt19937_64 random(seed);
  std::vector<std::size_t> order(timers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::vector<double>> logs(timers.size());
  std::vector<double> block_means;
  for (int block = 0; block < blocks; ++block) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    double sum = 0;
    for (const std::size_t i : order) {
      logs[i].push_back(std::log(timers[i]->time(launches[i], policy.l2).seconds));
      sum += logs[i].back();
    }
    block_means.push_back(sum / static_cast<double>(timers.size()));
    for (std::vector<double>& one : logs) one.back() -= block_means.back();
  }
  std::vector<double> times;
  for (const std::vector<double>& one : logs) {
    times.push_back(std::exp(median(one) + mean(block_means)));
  }
  return times;
}

Audit audit(const Round& round, std::span<const double> truths) {
  const double least = std::ranges::min(truths);
  Audit audit;
  audit.regret = truths[round.chosen] / least - 1;
  audit.gain = truths[0] / truths[round.chosen];
  for (std::size_t i = 0; i < truths.size(); ++i) {
    if (truths[i] > 1.01 * least) continue;
    const Decision decision = round.judgements[i].decision;
    ++audit.near_best;
    if (decision == Decision::screened || decision == Decision::outrun) ++audit.near_best_lost;
  }
  return audit;
}

}  // namespace autotune
