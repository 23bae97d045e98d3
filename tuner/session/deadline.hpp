// SPDX-License-Identifier: Apache-2.0
// When something is to be over.
#pragma once

#include <algorithm>
#include <chrono>

namespace autotune {

/// A moment after which nothing more is begun.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  /// Never.
  Deadline() = default;
  explicit Deadline(Clock::time_point moment) : moment_(moment) {}
  static Deadline in(double seconds) {
    constexpr double kMost = 1e9;  // 30 years: more would overflow
    return Deadline(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(std::min(seconds, kMost))));
  }

  bool is_set() const { return moment_ != Clock::time_point::max(); }
  double seconds_left() const {
    return std::chrono::duration<double>(moment_ - Clock::now()).count();
  }
  bool has_passed() const { return seconds_left() <= 0; }
  /// After a part of what is left.
  Deadline after(double share) const {
    return is_set() ? in(share * std::max(seconds_left(), 0.0)) : Deadline();
  }
  /// So many seconds later.
  Deadline plus(double seconds) const {
    return is_set() ? in(seconds_left() + seconds) : Deadline();
  }

 private:
  Clock::time_point moment_ = Clock::time_point::max();
};

}  // namespace autotune
