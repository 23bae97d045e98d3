// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/prune_audit.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Probability of at most `hits` of `draws` at this share.
double at_most(int hits, int draws, double share) {
  double sum = 0, term = std::pow(1 - share, draws);
  for (int k = 0; k <= hits; ++k) {
    sum += term;
    term *= share / (1 - share) * (draws - k) / (k + 1);
  }
  return sum;
}

double upper_bound(int hits, int draws) {
  if (hits >= draws) return 1;
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (at_most(hits, draws, middle) > 0.05 ? low : high) = middle;
  }
  return high;
}

}  // namespace

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
  if (result.sampled > 0) result.share_bound = upper_bound(result.faster, result.sampled);
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
