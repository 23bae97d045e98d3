// SPDX-License-Identifier: Apache-2.0
// What choosing is worth: a whole choice among given timers, and the truth to hold it against.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tuner/measure/judge.hpp"
#include "tuner/measure/playoff.hpp"

namespace autotune {

/// What a session does once everything is compiled: judge in the order given, then play off.
struct Round {
  std::size_t chosen = 0;
  std::vector<Judgement> judgements;  // of each timer
  double noise_floor = 0;
};

/// Timer 0 is the default configuration and the anchor. `prepare`, if given, is called before each
/// judgement, `reallocate` half-way through the playoff; `now` as for Anchor. Throws KernelFailure.
Round judge_and_play_off(std::span<Timer* const> timers, const Policy& policy, std::uint64_t seed,
                         const Anchor::Clock& now = {}, const std::function<void()>& prepare = {},
                         const std::function<void()>& reallocate = {});

/// The oracle: the time of each by `blocks` blocks of all in fresh random order, as the median of
/// what each took against the block's mean, times the mean of the blocks.
std::vector<double> interleaved_times(std::span<Timer* const> timers, int blocks,
                                      const Policy& policy, std::uint64_t seed);

/// A round against the true times.
struct Audit {
  double regret = 0;       // time of the chosen one over the least, less 1
  double gain = 1;         // time of the default over that of the chosen one
  int near_best = 0;       // configurations within 1 % of the least
  int near_best_lost = 0;  // of those, screened or outrun
};
Audit audit(const Round& round, std::span<const double> truths);

}  // namespace autotune
