// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/earning.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace autotune {
namespace {

/// A way of which nothing is known is assumed to take so many times as long as the other one.
constexpr double kUnknownWay = 4;
/// Seconds of a call of which nothing is known: a short one, which permits few timed calls.
constexpr double kUnknownCall = 2e-6;
/// A way that takes so many times as long in each of the first pairs does not serve any longer.
constexpr double kFarSlower = 1.5;
constexpr std::size_t kFirstPairs = 2;

Way other(Way way) { return way == Way::kernel ? Way::library : Way::kernel; }

}  // namespace

Earning::Earning(Way serves, Expected expected, std::uint64_t seed)
    : serves_(serves), expected_(expected), random_(seed) {}

double Earning::expected(Way way) const {
  const std::vector<double>& known = times(way);
  // The latest ones: clocks and neighbours change.
  constexpr std::size_t kLatest = 15;
  if (!known.empty()) return median(std::span(known).last(std::min(kLatest, known.size())));
  return way == Way::kernel ? expected_.kernel : expected_.library;
}

bool Earning::may_start_a_pair() const {
  const double known = expected(serves_), rival = expected(other(serves_));
  const double serving = known > 0 ? known : kUnknownCall;
  const double longer = (rival > 0 ? rival : kUnknownWay * serving) - serving;
  const double cost = 2 * kOverhead + std::max(longer, 0.0);
  return spent_ + cost <= kShare * static_cast<double>(calls_) * serving;
}

Earning::Turn Earning::next(bool can_be_timed) {
  ++calls_;
  if (is_decided_ || is_timing_ || !can_be_timed) return {serves_, false};
  if (half_ == 0) {
    if (!may_start_a_pair()) return {serves_, false};
    first_ = random_() % 2 == 0 ? Way::kernel : Way::library;
  }
  is_timing_ = true;
  return {half_ == 0 ? first_ : other(first_), true};
}

void Earning::take(std::optional<double> seconds) {
  if (!is_timing_) return;
  is_timing_ = false;
  const Way way = half_ == 0 ? first_ : other(first_);
  const bool is_time = seconds && std::isfinite(*seconds) && *seconds > 0;
  spent_ += kOverhead;
  if (way != serves_) {
    const double longer = (is_time ? *seconds : expected(way)) - expected(serves_);
    spent_ += std::max(longer, 0.0);
  }
  if (!is_time) {
    half_ = 0;
    return;
  }
  if (half_ == 0) {
    first_seconds_ = *seconds;
    half_ = 1;
    return;
  }
  half_ = 0;
  times(first_).push_back(first_seconds_);
  times(way).push_back(*seconds);
  judge();
}

void Earning::judge() {
  const std::vector<double>& kernel = times(Way::kernel);
  const std::vector<double>& library = times(Way::library);
  const std::size_t pairs = kernel.size();
  if (pairs == kFirstPairs) {
    const std::vector<double>&serving = times(serves_), &rival = times(other(serves_));
    const auto is_far_slower = [](double one, double than) { return one > kFarSlower * than; };
    if (std::ranges::equal(serving, rival, is_far_slower)) serves_ = other(serves_);
  }
  bool is_look = false;
  for (std::size_t look = kFirstLook; look <= kLastLook; look *= 2) is_look |= pairs == look;
  if (!is_look) return;
  ratio_ = paired_ratio(kernel, library);
  const bool is_faster = is_clearly_below_one(*ratio_);
  const bool is_slower = is_clearly_below_one(paired_ratio(library, kernel));
  if (is_faster) serves_ = Way::kernel;
  if (is_slower) serves_ = Way::library;
  is_decided_ = is_faster || is_slower || pairs >= kLastLook;
}

}  // namespace autotune
