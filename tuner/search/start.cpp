// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/start.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <unordered_set>

namespace autotune {
namespace {
double envd(const char* n, double d) { const char* s = std::getenv(n); return s ? std::atof(s) : d; }

constexpr std::size_t kPool = 1000;

/// Up to kPool different configurations that are not taken, in ascending order.
std::vector<std::size_t> random_pool(std::size_t size, std::span<const std::size_t> taken,
                                     RandomSource& random) {
  const std::unordered_set<std::size_t> used(taken.begin(), taken.end());
  std::vector<std::size_t> pool;
  if (size <= 2 * kPool) {
    for (std::size_t index : random_order(size, random)) {
      if (pool.size() < kPool && !used.contains(index)) pool.push_back(index);
    }
  } else {
    for (std::size_t i = 0; i < kPool; ++i) {
      const std::size_t index = random.below(size);
      if (!used.contains(index)) pool.push_back(index);
    }
  }
  std::sort(pool.begin(), pool.end());
  pool.erase(std::unique(pool.begin(), pool.end()), pool.end());
  return pool;
}

}  // namespace

std::vector<std::size_t> spread_out(const ParameterSpace& space, const LevelCoordinates& coordinates,
                                    std::size_t count, std::span<const std::size_t> taken,
                                    RandomSource& random) {
  const std::vector<std::size_t> pool = random_pool(space.size(), taken, random);
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
    Eigen::Index next = 0;
    if (chosen.empty() && taken.empty() && !pool.empty()) {
      next = static_cast<Eigen::Index>(random.below(pool.size()));
      if (envd("P_CENTRE", 0) > 0) (points.rowwise() - points.colwise().mean()).rowwise().squaredNorm().minCoeff(&next);
    } else {
      nearest.maxCoeff(&next);
    }
    chosen.push_back(pool[static_cast<std::size_t>(next)]);
    keep_away(points.row(next));
    nearest[next] = -1;
  }
  return chosen;
}

}  // namespace autotune
