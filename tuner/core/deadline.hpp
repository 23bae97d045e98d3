// SPDX-License-Identifier: Apache-2.0
// A moment by which work must end.
#pragma once

#include <algorithm>
#include <chrono>

namespace autotune {

/// Seconds since an arbitrary moment; they never go back.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// After this moment, no new work begins.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  /// No deadline.
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
  /// The deadline after this share of the time left.
  Deadline after(double share) const {
    return is_set() ? in(share * std::max(seconds_left(), 0.0)) : Deadline();
  }
  /// The deadline moved by `seconds`.
  Deadline plus(double seconds) const {
    return is_set() ? in(seconds_left() + seconds) : Deadline();
  }

 private:
  Clock::time_point moment_ = Clock::time_point::max();
};

// Adds up seconds of wall time.

/// Adds the seconds of its lifetime to a figure.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() {
    total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace autotune
