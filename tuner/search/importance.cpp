// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/importance.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/search/gaussian_process.hpp"
#include "tuner/search/points.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {
namespace {

constexpr std::size_t kMost = 240;
constexpr Eigen::Index kMostSampled = 100;
constexpr Eigen::Index kFolds = 5;
constexpr int kSampleFitSteps = 12;
constexpr double kSharpStep = 0.03;  // levels of a parameter may differ sharply
constexpr std::uint64_t kSeed = 1;

struct Sample {
  Points points;
  Eigen::VectorXd values;  // log seconds, mean 0 and deviation 1
};

/// In random order, so that folds have the same distribution.
std::optional<Sample> sample_of(const LevelCoordinates& coordinates,
                                const std::vector<Evaluation>& answers, RandomSource& random) {
  std::vector<const Evaluation*> timed;
  for (const Evaluation& answer : answers) {
    if (answer.seconds.value_or(0) > 0) timed.push_back(&answer);
  }
  if (timed.size() < static_cast<std::size_t>(kFewestForImportance)) return std::nullopt;
  random.shuffle(timed);
  timed.resize(std::min(timed.size(), kMost));
  std::vector<std::size_t> indices;
  Eigen::VectorXd values(static_cast<Eigen::Index>(timed.size()));
  for (const Evaluation* answer : timed) {
    values[static_cast<Eigen::Index>(indices.size())] = std::log(*answer->seconds);
    indices.push_back(answer->index);
  }
  values.array() -= values.mean();
  const double deviation = std::sqrt(values.squaredNorm() / static_cast<double>(values.size()));
  if (!(deviation > 0)) return std::nullopt;
  return Sample{coordinates.points(indices), values / deviation};
}

/// Rows `from` to `to`; outside(): all others.
template <class Matrix>
Matrix inside(const Matrix& all, Eigen::Index from, Eigen::Index to) {
  return all.middleRows(from, to - from);
}
template <class Matrix>
Matrix outside(const Matrix& all, Eigen::Index from, Eigen::Index to) {
  Matrix rest(all.rows() - (to - from), all.cols());
  rest.topRows(from) = all.topRows(from);
  rest.bottomRows(all.rows() - to) = all.bottomRows(all.rows() - to);
  return rest;
}

/// The points, then one copy per dimension with that column shuffled.
Points with_shuffled(const Points& points, RandomSource& random) {
  const Eigen::Index count = points.rows();
  Points all = points.replicate(points.cols() + 1, 1);
  for (Eigen::Index d = 0; d < points.cols(); ++d) {
    const std::vector<std::size_t> order = random_order(static_cast<std::size_t>(count), random);
    for (Eigen::Index i = 0; i < count; ++i) {
      all((d + 1) * count + i, d) =
          points(static_cast<Eigen::Index>(order[static_cast<std::size_t>(i)]), d);
    }
  }
  return all;
}

/// Sums of squared errors over all folds: unshuffled, then for each shuffled dimension.
Eigen::VectorXd squared_errors(const Sample& sample, RandomSource& random) {
  const Eigen::Index count = sample.points.rows(), dimensions = sample.points.cols();
  const Eigen::Index fitted = std::min(count, kMostSampled);
  const Kernel kernel =
      fit_kernel(Kernel::prior(dimensions, kSharpStep),
                 {sample.points.topRows(fitted), sample.values.head(fitted), {}}, kSampleFitSteps);
  Eigen::VectorXd errors = Eigen::VectorXd::Zero(dimensions + 1);
  for (Eigen::Index fold = 0; fold < kFolds; ++fold) {
    const Eigen::Index from = count * fold / kFolds, to = count * (fold + 1) / kFolds;
    const Points tested = with_shuffled(inside(sample.points, from, to), random);
    const Points known = outside(sample.points, from, to);
    const Eigen::VectorXd truth = inside(sample.values, from, to);
    Posterior posterior(tested, known.rows());
    posterior.reset(kernel, known);
    const Eigen::MatrixXd whitened = posterior.whitened(outside(sample.values, from, to));
    const Eigen::VectorXd means = posterior.means(whitened).col(0).cast<double>();
    for (Eigen::Index d = 0; d <= dimensions; ++d) {
      errors[d] += (means.segment(d * truth.size(), truth.size()) - truth).squaredNorm();
    }
  }
  return errors;
}

}  // namespace

std::optional<Importance> importance_of(const ParameterSpace& space,
                                        const std::vector<Evaluation>& answers) {
  const LevelCoordinates coordinates(space);
  if (coordinates.dimensions() == 0) return std::nullopt;
  RandomSource random(kSeed);
  const std::optional<Sample> sample = sample_of(coordinates, answers, random);
  if (!sample) return std::nullopt;
  const Eigen::VectorXd errors = squared_errors(*sample, random);
  const double variance = sample->values.squaredNorm();
  Importance importance;
  importance.r2 = 1 - errors[0] / variance;
  importance.configurations = static_cast<int>(sample->values.size());
  Eigen::Index d = 0;
  for (const Parameter& parameter : space.parameters()) {
    if (parameter.values.size() < 2) continue;
    importance.parameters.push_back({parameter.name, (errors[++d] - errors[0]) / variance});
  }
  std::ranges::stable_sort(importance.parameters, std::greater(), &ParameterImportance::r2_loss);
  return importance;
}

}  // namespace autotune
