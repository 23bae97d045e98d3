// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/start.hpp"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "tuner/search/candidates.hpp"

namespace autotune {
namespace {

constexpr std::size_t kPool = 1000;
constexpr std::size_t kFew = 8;        // random configurations for each best candidate
constexpr std::size_t kShortlist = 5;  // ranks considered per configuration taken from the ranking

/// Up to `most` different configurations that are not taken, in ascending order. At least one, if
/// there is one, in spaces of at most 2 kPool configurations.
std::vector<std::size_t> random_pool(std::size_t size, std::span<const std::size_t> taken,
                                     RandomSource& random, std::size_t most = kPool) {
  const std::unordered_set<std::size_t> used(taken.begin(), taken.end());
  std::vector<std::size_t> pool;
  if (size <= 2 * kPool) {
    for (std::size_t index : random_order(size, random)) {
      if (pool.size() < most && !used.contains(index)) pool.push_back(index);
    }
  } else {
    for (std::size_t i = 0; i < most; ++i) {
      const std::size_t index = random.below(size);
      if (!used.contains(index)) pool.push_back(index);
    }
  }
  std::sort(pool.begin(), pool.end());
  pool.erase(std::unique(pool.begin(), pool.end()), pool.end());
  return pool;
}

/// Removes the slower half by the model, unless nothing would remain. The slowest configurations
/// may take a thousand times as long as the rest and teach nothing.
void leave_out_slow(std::vector<std::size_t>& pool, std::span<const float> log_predicted) {
  if (log_predicted.empty()) return;
  const float slow = std::ranges::max(log_predicted);  // where log_predictions() clips
  std::vector<std::size_t> fast = pool;
  std::erase_if(fast, [&](std::size_t index) { return log_predicted[index] >= slow; });
  if (!fast.empty()) pool = std::move(fast);
}

/// Greedy maximin over `pool`: each choice is the farthest from `taken` and from the earlier
/// choices. With nothing taken, the first choice is pool[first].
std::vector<std::size_t> far_apart(const LevelCoordinates& coordinates,
                                   const std::vector<std::size_t>& pool, std::size_t count,
                                   std::span<const std::size_t> taken, std::size_t first) {
  const Points points = coordinates.points(pool);
  const Points others = coordinates.points(taken);
  Eigen::ArrayXf nearest =
      Eigen::ArrayXf::Constant(points.rows(), std::numeric_limits<float>::infinity());
  const auto keep_away = [&](const Eigen::RowVectorXf& point) {
    nearest = nearest.min((points.rowwise() - point).rowwise().squaredNorm().array());
  };
  for (Eigen::Index i = 0; i < others.rows(); ++i) keep_away(others.row(i));
  std::vector<std::size_t> chosen;
  while (chosen.size() < std::min(count, pool.size())) {
    auto next = static_cast<Eigen::Index>(first);
    if (!chosen.empty() || !taken.empty()) nearest.maxCoeff(&next);
    chosen.push_back(pool[static_cast<std::size_t>(next)]);
    keep_away(points.row(next));
    nearest[next] = -1;
  }
  return chosen;
}

}  // namespace

std::vector<std::size_t> spread_out(const ParameterSpace& space,
                                    const LevelCoordinates& coordinates, std::size_t count,
                                    std::span<const std::size_t> taken, RandomSource& random,
                                    std::span<const float> log_predicted) {
  std::vector<std::size_t> pool = random_pool(space.size(), taken, random);
  leave_out_slow(pool, log_predicted);
  if (pool.empty()) return {};
  return far_apart(coordinates, pool, count, taken, random.below(pool.size()));
}

std::vector<std::size_t> best_candidates(const ParameterSpace& space,
                                         const LevelCoordinates& coordinates, std::size_t count,
                                         std::span<const std::size_t> taken, RandomSource& random) {
  std::vector<std::size_t> used(taken.begin(), taken.end());
  while (used.size() < std::min(taken.size() + count, space.size())) {
    const std::vector<std::size_t> pool = random_pool(space.size(), used, random, kFew);
    if (pool.empty()) continue;  // all were taken
    used.push_back(far_apart(coordinates, pool, 1, used, 0).front());
  }
  return {used.begin() + static_cast<std::ptrdiff_t>(taken.size()), used.end()};
}

std::vector<std::size_t> first_configurations(const ParameterSpace& space,
                                              const LevelCoordinates& coordinates,
                                              std::span<const float> log_predicted,
                                              std::size_t count, std::span<const std::size_t> taken,
                                              RandomSource& random) {
  std::vector<std::size_t> used(taken.begin(), taken.end());
  std::vector<std::size_t> chosen;
  const auto take = [&](const std::vector<std::size_t>& more) {
    chosen.insert(chosen.end(), more.begin(), more.end());
    used.insert(used.end(), more.begin(), more.end());
  };
  if (!log_predicted.empty()) {
    const std::size_t trusted = std::max<std::size_t>(1, count * 2 / 3);
    const std::size_t shortlist = trusted * kShortlist + taken.size();
    std::vector<std::size_t> ranked = predicted_best(log_predicted, shortlist);
    std::erase_if(ranked, [&](std::size_t index) {
      return std::find(taken.begin(), taken.end(), index) != taken.end();
    });
    if (!ranked.empty()) {
      const std::vector<std::size_t> best = {ranked.front()};
      std::sort(ranked.begin(), ranked.end());
      std::erase(ranked, best.front());
      take(best);
      take(far_apart(coordinates, ranked, trusted - 1, best, 0));
    }
  }
  take(spread_out(space, coordinates, count - std::min(count, chosen.size()), used, random,
                  log_predicted));
  return chosen;
}

}  // namespace autotune
