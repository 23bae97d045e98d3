// SPDX-License-Identifier: Apache-2.0
// Whether a kernel or the vendor's library is faster in a program's own calls, found out by timing
// some of them. Knows neither streams nor clocks.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "tuner/measure/statistics.hpp"

namespace autotune {

enum class Way : std::uint8_t { kernel, library };

/// The calls of one problem. Timed calls come in pairs, one of each way in random order. The way
/// that serves changes where paired_ratio() says that the other is clearly faster. Not thread-safe.
class Earning {
 public:
  /// Timed calls may cost this share of the time of all calls: what their events take, and what the
  /// slower way takes longer.
  static constexpr double kShare = 0.02;
  /// Seconds that a timed call is assumed to take longer: two events on its stream.
  static constexpr double kOverhead = 2e-6;
  /// The comparison is looked at after so many pairs, and after each doubling. After the last one,
  /// the way that serves stays.
  static constexpr std::size_t kFirstLook = 12, kLastLook = 192;

  /// Expected seconds of a call; 0: unknown.
  struct Expected {
    double kernel = 0, library = 0;
  };
  Earning(Way serves, Expected expected, std::uint64_t seed = 1);

  struct Turn {
    Way way = Way::library;
    bool is_timed = false;
  };
  /// What the next call runs. It is timed only if it can be; take() must follow before another
  /// call is timed.
  Turn next(bool can_be_timed);
  /// The seconds of the timed call; nullopt if they are not its own. Its pair then counts nothing.
  void take(std::optional<double> seconds);

  Way serves() const { return serves_; }
  /// No call is timed any more.
  bool is_decided() const { return is_decided_; }
  /// Of the kernel to the library. nullopt before the first look.
  const std::optional<Ratio>& ratio() const { return ratio_; }
  /// Medians and intervals of the pairs; at least one pair.
  Measurement kernel() const { return summarize(times(Way::kernel)); }
  Measurement library() const { return summarize(times(Way::library)); }

 private:
  std::vector<double>& times(Way way) { return times_[static_cast<std::size_t>(way)]; }
  const std::vector<double>& times(Way way) const { return times_[static_cast<std::size_t>(way)]; }
  double expected(Way way) const;
  bool may_start_a_pair() const;
  void judge();

  Way serves_;
  const Expected expected_;
  std::mt19937_64 random_;
  std::uint64_t calls_ = 0;
  double spent_ = 0;              // seconds that timed calls have cost
  std::vector<double> times_[2];  // by way; the i-th ones are a pair
  Way first_ = Way::kernel;       // of the pair that is being timed
  int half_ = 0;                  // its calls that are timed
  double first_seconds_ = 0;
  bool is_timing_ = false, is_decided_ = false;
  std::optional<Ratio> ratio_;
};

}  // namespace autotune
