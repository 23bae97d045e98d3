// SPDX-License-Identifier: Apache-2.0
// Complete choices on simulated timers: the regret of each way of measuring.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bench/measure/audit.hpp"
#include "bench/measure/simulated_timer.hpp"

namespace autotune {

/// How a configuration is chosen: by the shortest of one launch each, of a mean, of a minimum, of a
/// graph batch, or by judge() and a playoff.
enum class Method : std::uint8_t { one_launch, mean_of_7, least_of_10, one_batch, judged };
inline constexpr std::array kMethods = {Method::one_launch, Method::mean_of_7, Method::least_of_10,
                                        Method::one_batch, Method::judged};
std::string_view name_of(Method method);

/// Times in random order with logarithms spaced evenly between `least` and 4.5 times it. Of 200,
/// about two are within 1 % of the fastest, as in a tuning space.
std::vector<double> simulated_space(std::size_t size, double least, std::uint64_t seed);

struct Choice {
  std::size_t index = 0;
  Audit audit;                // against the truth
  double device_seconds = 0;  // for the whole choice
  double noise_floor = 0;     // of Method::judged only
};

Choice choose(Method method, std::span<const double> truths, const NoiseModel& noise,
              std::uint64_t seed, const Policy& policy = {});

}  // namespace autotune
