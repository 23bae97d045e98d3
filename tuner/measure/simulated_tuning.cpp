// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/simulated_tuning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tuner/measure/judge.hpp"
#include "tuner/measure/playoff.hpp"

namespace autotune {
namespace {

/// Loading and verifying a configuration before it is timed.
constexpr double kPreparationSeconds = 10e-3;

double figure_of(Method method, SimulatedTimer& timer, const Policy& policy) {
  const auto launch = [&] { return timer.time(1, policy.l2).seconds; };
  double figure = launch();
  switch (method) {
    case Method::one_launch:
      break;
    case Method::mean_of_7:
      for (int i = 1; i < 7; ++i) figure += launch();
      break;
    case Method::least_of_10:
      for (int i = 1; i < 10; ++i) figure = std::min(figure, launch());
      break;
    default:
      figure = timer.time(launches_for(figure, policy), policy.l2).seconds;
  }
  return figure;
}

/// As a session does it: judge in the order given, then play off.
void judge_all(std::vector<SimulatedTimer>& timers, SimulatedDevice& device, const Policy& policy,
               std::uint64_t seed, Choice& choice) {
  Anchor anchor(timers[0], policy, [&] { return device.now(); });
  std::vector<double> medians(timers.size(), std::numeric_limits<double>::infinity());
  const double least = std::ranges::min(timers, {}, &SimulatedTimer::truth).truth();
  double best = 0;
  for (std::size_t i = 0; i < timers.size(); ++i) {
    device.wait(kPreparationSeconds);
    const Judgement judgement = judge(timers[i], best, policy, anchor);
    if (judgement.leads) best = judgement.measurement.median;
    if (judgement.outcome == Outcome::ok) medians[i] = judgement.measurement.median;
    const bool lost =
        judgement.decision == Decision::screened || judgement.decision == Decision::outrun;
    if (timers[i].truth() <= 1.01 * least) {
      ++choice.near_best;
      choice.near_best_lost += lost ? 1 : 0;
    }
  }
  std::vector<std::size_t> chosen = choose_finalists(medians, policy);
  if (std::ranges::find(chosen, std::size_t{0}) == chosen.end()) chosen.push_back(0);
  std::vector<Finalist> finalists;
  for (const std::size_t i : chosen) finalists.push_back({&timers[i], medians[i], i == 0, false});
  const auto reallocate = [&](std::span<Finalist>) {
    for (SimulatedTimer& timer : timers) timer.reallocate();
  };
  const PlayoffResult result = play_off(finalists, policy, seed, reallocate, anchor.clock_hz());
  choice.index = chosen[result.winner];
  choice.noise_floor = result.noise_floor;
}

}  // namespace

std::string_view name_of(Method method) {
  static constexpr std::array<std::string_view, 5> kNames = {
      "one launch", "mean of 7", "least of 10", "one graph batch", "judged"};
  return kNames[static_cast<std::size_t>(method)];
}

std::vector<double> simulated_space(std::size_t size, double least, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> times(size, least);
  for (double& time : times) time *= std::exp(1.5 * static_cast<double>(random() >> 11) * 0x1p-53);
  return times;
}

Choice choose(Method method, std::span<const double> truths, const NoiseModel& noise,
              std::uint64_t seed, const Policy& policy) {
  SimulatedDevice device(noise, seed);
  std::vector<SimulatedTimer> timers;
  for (const double truth : truths) timers.emplace_back(device, truth);
  Choice choice;
  if (method == Method::judged) {
    judge_all(timers, device, policy, seed, choice);
  } else {
    std::vector<double> figures;
    for (SimulatedTimer& timer : timers) {
      device.wait(kPreparationSeconds);
      figures.push_back(figure_of(method, timer, policy));
    }
    choice.index = std::ranges::min_element(figures) - figures.begin();
  }
  choice.regret = truths[choice.index] / std::ranges::min(truths) - 1;
  choice.gain = truths[0] / truths[choice.index];
  choice.device_seconds = device.now() - kPreparationSeconds * static_cast<double>(truths.size());
  return choice;
}

}  // namespace autotune
