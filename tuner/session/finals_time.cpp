// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/finals_time.hpp"

#include <algorithm>

namespace autotune {
namespace {

/// Of the time that is left: for verifying the finalists, and for blocks of the playoff.
constexpr double kVerifyingShare = 0.6;
constexpr double kPlayoffShare = 0.5;

/// What finals cost.
constexpr double kVerifications = 4;      // of a finalist: three runs and the edge problem
constexpr double kLeast = 2, kUsual = 6;  // finalists
constexpr double kWithOtherL2 = 1.5;      // playoff with its blocks in the other L2 state
constexpr double kOtherContext = 0.4;     // a playoff's blocks in another context
constexpr double kBaselineSeconds = 0.3;  // to load a candidate of a library again

}  // namespace

FinalsSeconds finals_seconds(const ProblemRun& run) {
  const Policy& policy = run.policy();
  const Bench& bench = run.bench();
  const double best = run.ledger().best_seconds();
  const double verification = bench.phases().verify / std::max(bench.measured(), 1);
  // Of two finalists or more, the A/A pair and the libraries' candidates.
  const double batch = best * launches_for(best, policy);
  const auto baselines = static_cast<double>(run.baselines().size());
  const auto blocks_of = [&](double finalists) { return (finalists + 1 + baselines) * batch; };
  const double blocks = std::min(policy.playoff_seconds, policy.most_blocks * blocks_of(kUsual));
  FinalsSeconds seconds;
  seconds.least = kLeast * kVerifications * verification + kFewestForInterval * blocks_of(kLeast);
  const auto contexts = static_cast<double>(other_contexts(policy).size());
  seconds.usual = kUsual * kVerifications * verification +
                  (kWithOtherL2 + kOtherContext * contexts) * blocks + bench.phases().open +
                  kBaselineSeconds * baselines;
  seconds.usual = std::max(seconds.usual, seconds.least);
  return seconds;
}

Deadline verifying_deadline(const Deadline& deadline) { return deadline.after(kVerifyingShare); }

Policy shortened(Policy policy, const Deadline& deadline) {
  policy.playoff_seconds =
      std::clamp(deadline.seconds_left() * kPlayoffShare, 0.0, policy.playoff_seconds);
  return policy;
}

}  // namespace autotune
