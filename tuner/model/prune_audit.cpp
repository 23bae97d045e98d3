// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/prune_audit.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "tuner/probability/quantiles.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
std::vector<std::size_t> audit_sample(std::span<const std::size_t> pruned, std::size_t count,
                                      std::uint64_t seed) {
  std::vector<std::size_t> sample(pruned.begin(), pruned.end());
  std::mt19937_64 random(seed);
  const std::size_t size = std::min(count, sample.size());
  for (std::size_t i = 0; i < size; ++i) {
    std::swap(sample[i], sample[i + random() % (sample.size() - i)]);
  }
  sample.resize(size);
  return sample;
}

PruneAudit audit(double best_seconds, std::span<const AuditedTrial> trials) {
  PruneAudit result;
  result.sampled = static_cast<int>(trials.size());
  for (const AuditedTrial& trial : trials) {
    if (trial.outcome != Outcome::ok || !trial.seconds) continue;
    ++result.ran;
    if (*trial.seconds < best_seconds) ++result.faster;
    if (!result.best || *trial.seconds < *result.best->seconds) result.best = trial;
  }
  if (result.faster > 0) result.regret = best_seconds / *result.best->seconds - 1;
  if (result.sampled > 0) result.share_bound = upper_bound_of_share(result.faster, result.sampled);
  return result;
}

std::string audit_text(const PruneAudit& audit, std::size_t pruned) {
  if (audit.sampled == 0) return "audit: nothing was pruned";
  std::string text =
      format("audit: {} of {} pruned measured, {} ran, ", audit.sampled, pruned, audit.ran);
  if (audit.faster == 0) {
    return text +
           format("none is faster; at most {:.1f} % of them can be", 100 * audit.share_bound);
  }
  return text + format("{} faster, the best by {:.1f} % ({})", audit.faster, 100 * audit.regret,
                       time_text(*audit.best->seconds));
}

}  // namespace autotune
