// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/simulated_tuning.hpp"

#include <algorithm>
#include <cmath>
#include <random>

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

Round judged(std::vector<SimulatedTimer>& timers, SimulatedDevice& device, const Policy& policy,
             std::uint64_t seed) {
  std::vector<Timer*> pointers;
  for (SimulatedTimer& timer : timers) pointers.push_back(&timer);
  const auto reallocate = [&] {
    for (SimulatedTimer& timer : timers) timer.reallocate();
  };
  return judge_and_play_off(
      pointers, policy, seed, [&] { return device.now(); },
      [&] { device.wait(kPreparationSeconds); }, reallocate);
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
  Round round;
  if (method == Method::judged) {
    round = judged(timers, device, policy, seed);
  } else {
    std::vector<double> figures;
    for (SimulatedTimer& timer : timers) {
      device.wait(kPreparationSeconds);
      figures.push_back(figure_of(method, timer, policy));
    }
    round.chosen = std::ranges::min_element(figures) - figures.begin();
    round.judgements.resize(truths.size());
  }
  choice.index = round.chosen;
  choice.noise_floor = round.noise_floor;
  choice.audit = audit(round, truths);
  const double preparing = kPreparationSeconds * static_cast<double>(truths.size());
  choice.device_seconds = device.now() - preparing;
  return choice;
}

}  // namespace autotune
