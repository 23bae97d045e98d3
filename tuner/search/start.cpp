// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/guided.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_set>

namespace autotune {

ValueEffects::ValueEffects(const ParameterSpace& space, const Observations& observations)
    : space_(space) {
  std::size_t count = 0;
  for (const Parameter& parameter : space.parameters()) {
    first_.push_back(count);
    count += parameter.values.size();
  }
  const auto fastest =
      std::span(observations.fastest()).first(std::min(observations.valid(), kLate));
  const auto time_of = [&](std::size_t place) { return *observations.log_seconds(place); };
  const std::size_t surely_fast = fastest[std::min(kFewestFast, fastest.size()) - 1];
  const double ceiling = std::max(time_of(fastest.front()) + std::log(kFast), time_of(surely_fast));
  const auto weight_of = [&](std::size_t place) {
    return time_of(place) <= ceiling ? 1 : kWeightOfSlow;
  };
  double weights = 0;
  for (const std::size_t place : fastest) {
    weights += weight_of(place);
    mean_ += weight_of(place) * std::min(time_of(place), ceiling);
  }
  mean_ /= weights;

  const auto size = static_cast<Eigen::Index>(count);
  Eigen::MatrixXd normal = Eigen::MatrixXd::Identity(size, size) * kPenalty;
  Eigen::VectorXd right = Eigen::VectorXd::Zero(size);
  for (const std::size_t place : fastest) {
    const std::vector<Eigen::Index> values = effects_of(observations.indices()[place]);
    for (const Eigen::Index row : values) {
      right[row] += weight_of(place) * (std::min(time_of(place), ceiling) - mean_);
      for (const Eigen::Index column : values) normal(row, column) += weight_of(place);
    }
  }
  effects_ = normal.llt().solve(right);
}

std::vector<Eigen::Index> ValueEffects::effects_of(std::size_t index) const {
  const Levels levels = space_.levels(index);
  std::vector<Eigen::Index> places;
  for (std::size_t p = 0; p < levels.size(); ++p) {
    places.push_back(static_cast<Eigen::Index>(first_[p] + levels[p]));
  }
  return places;
}

double ValueEffects::log_seconds(std::size_t index) const {
  return mean_ + effects_(effects_of(index)).sum();
}

namespace {

constexpr double kSame = 0.97;  // correlation of configurations that take the same time

}  // namespace

std::optional<std::size_t> Surroundings::best_row(const Observations& observations,
                                                  const Kernel& kernel, const Points& known,
                                                  const Eigen::ArrayXf& success,
                                                  const std::vector<char>& taken) {
  const std::size_t fastest = observations.indices()[observations.fastest().front()];
  if (centre_ != fastest) around_ = neighbours_.within_two_changes(fastest);
  centre_ = fastest;
  const ValueEffects effects(space_, observations);
  std::optional<std::size_t> best;
  double shortest = std::numeric_limits<double>::infinity();
  for (const std::size_t index : around_) {
    const auto row = candidates_.row_of(index);
    if (!row || taken[*row]) continue;
    double expected = effects.log_seconds(index);
    if (success.size() > 0) {
      expected -= std::log(static_cast<double>(success[static_cast<Eigen::Index>(*row)]));
    }
    if (expected >= shortest) continue;
    const auto point = candidates_.points.row(static_cast<Eigen::Index>(*row));
    if (largest_correlation(kernel, point, known) > kSame) continue;
    best = row;
    shortest = expected;
  }
  return best;
}

namespace {

constexpr std::size_t kPool = 1000;
constexpr std::size_t kDrawn = 20000;  // random configurations, to find those of usual sizes
constexpr std::size_t kTold = 200;     // configurations that the first ones tell about
constexpr std::size_t kChoice = 3;     // times as many of usual sizes as are chosen, or any sizes
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

/// Up to kPool random configurations whose sizes are all powers of two; of any sizes if less than
/// `fewest` are.
std::vector<std::size_t> usual_pool(const ParameterSpace& space, std::size_t fewest,
                                    RandomSource& random) {
  const OddSizes odd(space);
  std::vector<std::size_t> all = random_pool(space.size(), {}, random, kDrawn);
  random.shuffle(all);
  std::vector<std::size_t> usual;
  std::ranges::copy_if(all, std::back_inserter(usual), [&](auto i) { return odd.count(i) == 0; });
  std::vector<std::size_t>& pool = usual.size() < fewest ? all : usual;
  pool.resize(std::min(pool.size(), kTold));
  return std::move(pool);
}

/// Greedy maximin over the faster half of random ones.
std::vector<std::size_t> spread_out(const ParameterSpace& space,
                                    const LevelCoordinates& coordinates, std::size_t count,
                                    std::span<const std::size_t> taken, RandomSource& random,
                                    std::span<const float> log_predicted) {
  std::vector<std::size_t> pool = random_pool(space.size(), taken, random);
  leave_out_slow(pool, log_predicted);
  if (pool.empty()) return {};
  return far_apart(coordinates, pool, count, taken, random.below(pool.size()));
}

}  // namespace

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

std::vector<std::size_t> telling_configurations(const ParameterSpace& space,
                                                const LevelCoordinates& coordinates,
                                                std::size_t count, RandomSource& random) {
  const std::vector<std::size_t> pool = usual_pool(space, kChoice * count, random);
  const Points points = coordinates.points(pool);
  const Kernel kernel = Kernel::prior(points.cols(), 0);
  const auto noise = static_cast<float>(std::exp(kernel.log_noise));
  Eigen::MatrixXf covariance(points.rows(), points.rows());  // given what is chosen
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    covariances(kernel, points.row(i), points, covariance.col(i).data());
  }
  std::vector<std::size_t> chosen;
  Eigen::ArrayXf open = Eigen::ArrayXf::Ones(points.rows());  // 0: chosen
  while (chosen.size() < std::min(count, pool.size())) {
    const Eigen::ArrayXf told = covariance.colwise().squaredNorm().transpose();  // times variance
    Eigen::Index next = 0;
    (open * told / (covariance.diagonal().array() + noise)).maxCoeff(&next);
    chosen.push_back(pool[static_cast<std::size_t>(next)]);
    open[next] = 0;
    const Eigen::VectorXf column = covariance.col(next);
    covariance -= column * column.transpose() / (column[next] + noise);
  }
  return chosen;
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
  take(spread_out(space, coordinates, count - std::min(count, chosen.size()), used, random,
                  log_predicted));
  return chosen;
}

}  // namespace autotune
