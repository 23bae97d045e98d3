// SPDX-License-Identifier: Apache-2.0
// How a trial ended, and the times that are stored and compared.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace autotune {

/// `pruned`: not run or stopped early, because resources, the model or a screen excluded it.
/// `invalid`: over a limit of the device. `killed`: its process was killed from outside whenever it
/// was asked again; that says nothing about the configuration, and is never stored. The others
/// failed when built, run or verified.
enum class Outcome : std::uint8_t {
  ok,
  pruned,
  invalid,
  compile_error,
  launch_error,
  wrong,
  nondeterministic,
  timeout,
  crash,
  killed,
};

inline constexpr int kOutcomes = 10;

/// `ok`, `pruned`, `compile_error`, …: as stored in the database.
std::string_view name_of(Outcome outcome);
std::optional<Outcome> outcome(std::string_view name);

/// A noise floor above it is said in words: smaller differences mean nothing.
inline constexpr double kNoisy = 0.05;

/// Whether something can take these seconds (or nanoseconds). The model predicts infinity for what
/// it takes for impossible, which some of it is not: a compiler may need fewer registers.
inline bool is_time(double seconds) { return seconds > 0 && std::isfinite(seconds); }

/// The fewest samples from which ranks give a 95 % interval of the median.
inline constexpr int kFewestForInterval = 6;
/// The confidence of an interval from ranks: with fewer samples it is the whole range, which misses
/// the median if all of them are on one side of it.
constexpr double interval_level(int samples) {
  double missed = 1;
  for (int i = 1; i < samples; ++i) missed /= 2;
  return samples >= kFewestForInterval ? 0.95 : 1 - missed;
}

/// Times of one configuration, in seconds per launch.
struct Measurement {
  double median = 0;
  double low = 0;  // interval of the median, of interval_level(samples): low..high
  double high = 0;
  int samples = 0;
  int outliers = 0;        // far above the median; included in the samples
  bool throttled = false;  // the SM clock was below 0.90 of the session's reference
  double correction = 0;   // the largest share by which a low clock lowered a time of it
};

}  // namespace autotune
