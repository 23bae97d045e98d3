// SPDX-License-Identifier: Apache-2.0
// Evaluates the prune audit: a random sample of pruned configurations, measured in full.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/outcome.hpp"

namespace autotune {

/// `count` random indices of `pruned`, without repetition; all if there are fewer.
std::vector<std::size_t> audit_sample(std::span<const std::size_t> pruned, std::size_t count,
                                      std::uint64_t seed);

/// A pruned configuration of the sample; has seconds if it ran.
struct AuditedTrial {
  Outcome outcome = Outcome::ok;
  std::optional<double> seconds;
};

struct PruneAudit {
  int sampled = 0;
  int ran = 0;     // with a correct result
  int faster = 0;  // than the best found
  std::optional<AuditedTrial> best;
  /// best found / best pruned - 1 if a pruned one is faster, else 0.
  double regret = 0;
  /// Upper bound of the share of all pruned configurations that are faster than the best found,
  /// with 95 % confidence: the exact binomial bound (Clopper and Pearson, 1934).
  double share_bound = 1;
};

PruneAudit audit(double best_seconds, std::span<const AuditedTrial> trials);

/// `audit: 40 of 1210 pruned measured, 38 ran, none is faster; at most 7.2 % of them can be`.
std::string audit_text(const PruneAudit& audit, std::size_t pruned);

}  // namespace autotune
