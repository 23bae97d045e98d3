// SPDX-License-Identifier: Apache-2.0
// The last word: the fastest configurations side by side, in many short blocks of random order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/outcome.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/measure/statistics.hpp"

namespace autotune {

struct Finalist {
  Timer* timer = nullptr;
  double seconds = 0;        // a launch, from the search or the store: sets launches a batch
  bool is_default = false;   // at most one of them
  bool is_stored = false;    // the best of earlier runs; at most one, may be the default too
  bool is_baseline = false;  // a vendor's: timed alongside, never the winner nor a tie
};

/// Which of the `medians` go to the playoff, fastest first: all within the policy's margin of the
/// fastest, at most its number. The default and the stored one are for the caller to add.
std::vector<std::size_t> choose_finalists(std::span<const double> medians, const Policy& policy);

struct FinalistResult {
  Outcome outcome = Outcome::ok;  // or how its launch failed, with `message`
  std::string message;
  Measurement measurement;
  std::optional<Measurement> other_l2;  // in the L2 state that is not the policy's
  std::optional<Ratio> to_default;      // time over the default's, paired
  std::optional<Ratio> to_winner;       // time over the winner's, paired
  bool tied = false;                    // within the policy's margin of the fastest
};

struct PlayoffResult {
  std::optional<std::size_t> winner;  // of the finalists; none when each of them failed
  bool replaced = false;              // the stored one (the default, if none is stored) gave way
  int ties = 1;            // finalists within the tie margin of the fastest, itself included
  double noise_floor = 0;  // relative: what two entries of the same configuration differ by
  int blocks = 0;
  std::vector<FinalistResult> finalists;  // in the order given
};

/// Called half-way: allocates the buffers anew and may point the finalists to new timers.
using Reallocate = std::function<void(std::span<Finalist>)>;
/// Once it says so no block is begun, but two are always run.
using OutOfTime = std::function<bool()>;

/// At least one finalist that is no baseline; `clock_hz` is the session's reference, 0 when
/// unknown. One whose launch fails is out, and its result says why. The winner is the fastest,
/// unless that is not more than the policy's margin faster, with an interval that says so, than the
/// stored configuration or the default, which then stays.
PlayoffResult play_off(std::vector<Finalist> finalists, const Policy& policy, std::uint64_t seed,
                       const Reallocate& reallocate = {}, double clock_hz = 0,
                       const OutOfTime& out_of_time = {});

}  // namespace autotune
