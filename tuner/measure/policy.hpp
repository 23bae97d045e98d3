// SPDX-License-Identifier: Apache-2.0
// How times are taken and when they are believed: the choices of docs/measuring.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/outcome.hpp"

namespace autotune {

/// The quantity to minimize. edp: energy times delay.
enum class Objective : std::uint8_t { time, energy, edp };
std::string_view name_of(Objective objective);
std::optional<Objective> objective_of(std::string_view name);

struct Policy {
  // The meaning of a time: part of the key of stored results.
  L2State l2 = L2State::hot;
  LaunchForm form = LaunchForm::graph;
  CallContext context = CallContext::chain;  // of the playoff that decides; never in_order
  Objective objective = Objective::time;     // decides among finalists; the search uses time

  // One batch.
  double batch_seconds = 500e-6;  // target
  int fewest_launches = 8;        // fewer only if a visit would exceed its limit
  int most_launches = 1024;

  // One visit to a configuration.
  int fewest_batches = 4;
  int most_batches = 12;
  double visit_seconds = 40e-3;  // no batch begins after this
  double precision = 0.005;      // stop when the relative half-width of the 99 % interval is below

  // Against the best so far.
  double hopeless_ratio = 3;            // one launch, less the excess, is slower: no batch is timed
  double single_launch_excess = 20e-6;  // by which timing one launch alone may exceed its time
  double longest_delay = 10e-3;         // of one launch, by a busy host: another launch decides
  double first_launch_excess = 20e-3;   // by which loading may prolong the very first launch
  double screen_ratio = 1.5;            // the faster of two batches is slower than this: pruned
  double race_margin = 0.03;
  double race_standard_errors = 3.3;
  double confirm_margin = 0.03;  // a larger lead needs a second visit

  // The device over time.
  double anchor_seconds = 0.1;    // between two measurements of the anchor
  double anchor_share = 0.05;     // largest share of the time for a slow anchor
  double most_drift = 1.25;       // and its inverse; beyond, the device is disturbed
  int drift_repeats = 2;          // of a measurement of the anchor that is beyond
  double full_clock = 0.98;       // of the session's reference: below, a search counts cycles
  double throttled_clock = 0.90;  // of the session's reference
  int throttled_repeats = 2;      // of one batch
  double warm_up_seconds = 1;     // at most
  double warm_up_window = 10e-3;  // three of them must agree
  double warm_up_agreement = 0.01;

  // Several devices.
  double devices_alike = 0.01;  // relative difference of the default's times

  // The playoff.
  double finalist_margin = 0.03;
  int most_finalists = 10;
  double throttled_margin = 0.12;     // in place of the above, if the clock was low in the search
  int most_throttled_finalists = 16;  // also if the clock was a little low
  // Under load, if the fastest was throttled.
  std::size_t most_loaded = 8;
  int load_rounds = kFewestForInterval;
  double load_seconds = 0.2;  // of one finalist, without a pause; the second half counts
  int fewest_blocks = 15;
  int most_blocks = 40;
  int other_l2_blocks = 7;
  int other_context_blocks = 7;
  double playoff_seconds = 2;  // no block begins after this, but kFewestForInterval always run
  double uncut_seconds = 0.2;  // of a playoff that a deadline does not end before those
  double tie_margin = 0.005;
  double replace_margin = 0.01;
  double energy_margin = 0.15;  // in place of finalist_margin, unless the objective is time
  double energy_seconds = 0.3;  // of the sustained run of a finalist, at least
};

/// `l2=hot launch=graph objective=energy context=between`: the key of stored results. Objective
/// `time` and context `chain` are omitted, as in older databases.
std::string key_text(const Policy& policy);

/// Every policy that results may be stored under.
std::vector<Policy> stored_policies();

/// The contexts that the playoff times beside the policy's own: none, if it is the chain.
std::vector<CallContext> other_contexts(const Policy& policy);

/// The default context: `between` on a GPU, `chain` on other devices.
CallContext default_context(DeviceKind kind);
/// The name of a context, `between`, and back; nullopt if a policy cannot have the context.
std::string_view name_of(CallContext context);
std::optional<CallContext> context_named(std::string_view name);

/// The context of a search. If the policy's context is not `chain`, the search uses `in_order`, so
/// that a kernel does not gain by starting early after itself.
CallContext search_context(const Policy& policy);

/// Launches per batch for a kernel that takes about `seconds`.
int launches_for(double seconds, const Policy& policy);

}  // namespace autotune
