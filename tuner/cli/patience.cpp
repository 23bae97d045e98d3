// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/patience.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>

#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

constexpr int kPeriodSeconds = 10;

}  // namespace

Patience::Patience(double limit_seconds)
    : limit_(limit_seconds), thread_([this](const std::stop_token& end) { speak(end); }) {}

void Patience::note(std::size_t done, std::size_t all) {
  const std::lock_guard lock(mutex_);
  done_ = std::max(done_, done);
  of_ = format(" of {}", all);
}

void Patience::speak(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  for (int seconds = kPeriodSeconds;; seconds += kPeriodSeconds) {
    changed_.wait_for(lock, end, std::chrono::seconds(kPeriodSeconds), [] { return false; });
    if (end.stop_requested()) return;
    std::cerr << format(
        "{}{} kernels compiled after {} s; the limit for one is {:.0f} s (--compile-limit)\n",
        done_, of_, seconds, limit_);
  }
}

}  // namespace autotune::cli
