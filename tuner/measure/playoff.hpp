// SPDX-License-Identifier: Apache-2.0
// The playoff: finalists timed side by side, in many short blocks in random order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tuner/core/outcome.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/measure/statistics.hpp"

namespace autotune {

struct Finalist {
  Timer* timer = nullptr;
  double seconds = 0;        // per launch, from the search or the store: sets launches per batch
  bool is_default = false;   // at most one
  bool is_given = false;     // what programs get today; at most one, may be the default too
  bool is_baseline = false;  // timed alongside; never the winner or a tie
};

/// The finalists, fastest first: indices of those within the policy's margin of the fastest, up to
/// its number. Both are larger if the clock was low, because kernels differ in what they lose to
/// it: the margin by the largest correction, and to the policy's throttled_margin if the fastest
/// was throttled. The caller adds the default configuration and what programs get.
std::vector<std::size_t> choose_finalists(std::span<const Measurement> searched,
                                          const Policy& policy);

struct FinalistResult {
  Outcome outcome = Outcome::ok;  // or how it failed, with `message` and without times
  std::string message;
  Measurement measurement;
  std::optional<Measurement> other_l2;  // in the L2 state that the policy does not name
  std::map<CallContext, Measurement> other_contexts;  // in those of other_contexts()
  std::optional<Ratio> to_default;                    // time over the default's, paired
  std::optional<Ratio> to_winner;                     // time over the winner's, paired
  bool tied = false;                                  // within tie_margin() of the fastest
};

inline FinalistResult failed_finalist(Outcome outcome, std::string message) {
  FinalistResult result;
  result.outcome = outcome;
  result.message = std::move(message);
  return result;
}

struct PlayoffResult {
  std::optional<std::size_t> winner;  // index of a finalist; none if all failed
  bool replaced = false;              // it replaces what programs get (else the default)
  int ties = 1;                       // finalists within tie_margin, the fastest included
  double tie_margin = 0;              // tie_margin() of this playoff
  double noise_floor = 0;             // relative difference of the A/A pair
  int blocks = 0;
  /// A finalist seems to be faster than the winner, but there were too few blocks to tell.
  bool is_open = false;
  std::vector<FinalistResult> finalists;  // in the order given
};

/// Called half-way: allocates the buffers again and may replace the finalists' timers.
using Reallocate = std::function<void(std::span<Finalist>)>;
/// No block begins after it returns true, with two exceptions: two blocks always run, and
/// kFewestForInterval if they fit into the policy's uncut_seconds.
using OutOfTime = std::function<bool()>;

/// By how much a finalist that ties may be slower than the fastest: the policy's margin, or the
/// noise floor if that is larger.
double tie_margin(const Policy& policy, double noise_floor);

/// At least one finalist must not be a baseline. `clock_hz` is the session's reference, 0 if
/// unknown. A finalist that fails in any phase is excluded: its result has the reason, and the
/// others are compared without it. If the fastest was throttled, the fastest are also timed under
/// load, one by one, and compared by that. The winner is the fastest, with one exception. What
/// programs get (else the default) stays, unless the fastest beats it by more than the
/// policy's margin and is_clearly_below_one() confirms it.
PlayoffResult play_off(std::vector<Finalist> finalists, const Policy& policy, std::uint64_t seed,
                       const Reallocate& reallocate = {}, double clock_hz = 0,
                       const OutOfTime& out_of_time = {});

}  // namespace autotune
