// SPDX-License-Identifier: Apache-2.0
// Evaluates how configurations are chosen: a complete choice among given timers, compared with the
// truth.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tuner/measure/judge.hpp"
#include "tuner/measure/playoff.hpp"

namespace autotune {

/// A session after compilation: judge in the given order, then play off.
struct Round {
  std::size_t chosen = 0;
  std::vector<Judgement> judgements;  // one per timer
  double noise_floor = 0;
};

/// Timer 0 is the default configuration and the anchor. `prepare` is called before each judgement,
/// `reallocate` half-way through the playoff; both are optional. `now` as for Anchor. Throws
/// KernelFailure.
Round judge_and_play_off(std::span<Timer* const> timers, const Policy& policy, std::uint64_t seed,
                         const Anchor::Clock& now = {}, const std::function<void()>& prepare = {},
                         const std::function<void()>& reallocate = {});

/// The oracle: the time of each timer, from `blocks` blocks of all timers in fresh random order. It
/// is the median of its time over the block's mean, times the mean of the blocks.
std::vector<double> interleaved_times(std::span<Timer* const> timers, int blocks,
                                      const Policy& policy, std::uint64_t seed);

/// A round, compared with the true times.
struct Audit {
  double regret = 0;       // time of the chosen one over the shortest, less 1
  double gain = 1;         // time of the default configuration over that of the chosen one
  int near_best = 0;       // configurations within 1 % of the shortest
  int near_best_lost = 0;  // of these: screened or outrun
};
Audit audit(const Round& round, std::span<const double> truths);

}  // namespace autotune
