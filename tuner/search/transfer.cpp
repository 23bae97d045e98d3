// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/transfer.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "tuner/core/outcome.hpp"
#include "tuner/search/gaussian_process.hpp"
#include "tuner/search/points.hpp"

namespace autotune {
namespace {

constexpr std::size_t kMostTrials = 128;
constexpr std::size_t kMostProblems = 4;
constexpr int kTransferFitSteps = 15;
constexpr double kWeakStep = 0.03;
constexpr Eigen::Index kFewestRows = 4096;  // per thread

/// The other problem's coordinates relative to `problem`, one per name. Sizes as log16 of the
/// ratio, so that a factor of 16 is as far as a parameter's whole range. Words: 0 if equal, else 1.
Eigen::RowVectorXf size_coordinates(const NamedValues& problem, const NamedValues& other) {
  Eigen::RowVectorXf coordinates(static_cast<Eigen::Index>(problem.size()));
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const Value* const value = find_value(other, problem[i].name);
    const bool sizes = value && value->is_integer() && problem[i].value.is_integer() &&
                       value->integer() > 0 && problem[i].value.integer() > 0;
    double coordinate = value && *value == problem[i].value ? 0 : 1;
    if (sizes) {
      coordinate = std::log2(static_cast<double>(value->integer()) /
                             static_cast<double>(problem[i].value.integer())) /
                   4;
    }
    coordinates[static_cast<Eigen::Index>(i)] = static_cast<float>(coordinate);
  }
  return coordinates;
}

/// The trials of one earlier problem.
struct PastProblem {
  Eigen::RowVectorXf sizes;
  std::vector<const PastTrial*> trials;
};

/// At most kMostProblems, nearest first.
std::vector<PastProblem> nearest_problems(const NamedValues& problem,
                                          std::span<const PastTrial> history, bool with_model) {
  std::map<std::string, PastProblem> by_text;
  for (const PastTrial& trial : history) {
    if (!is_time(trial.seconds) || (with_model && !is_time(trial.predicted))) continue;
    PastProblem& past = by_text[to_text(trial.problem)];
    if (past.trials.empty()) past.sizes = size_coordinates(problem, trial.problem);
    past.trials.push_back(&trial);
  }
  std::vector<PastProblem> problems;
  for (auto& [text, past] : by_text) problems.push_back(std::move(past));
  std::stable_sort(problems.begin(), problems.end(), [](const auto& a, const auto& b) {
    return a.sizes.squaredNorm() < b.sizes.squaredNorm();
  });
  if (problems.size() > kMostProblems) problems.resize(kMostProblems);
  return problems;
}

/// `count` trials: half of them the fastest, the rest evenly spaced over the others.
std::vector<const PastTrial*> most_informative(std::vector<const PastTrial*> trials,
                                               std::size_t count) {
  std::stable_sort(trials.begin(), trials.end(),
                   [](const PastTrial* a, const PastTrial* b) { return a->seconds < b->seconds; });
  if (trials.size() <= count) return trials;
  const std::size_t fastest = count / 2;
  std::vector<const PastTrial*> chosen(trials.begin(),
                                       trials.begin() + static_cast<std::ptrdiff_t>(fastest));
  const std::size_t others = count - fastest;
  for (std::size_t i = 0; i < others; ++i) {
    chosen.push_back(trials[fastest + i * (trials.size() - fastest) / others]);
  }
  return chosen;
}

/// log(measured / predicted); without a model, the log times minus their mean.
Eigen::VectorXd residuals(const std::vector<const PastTrial*>& trials, bool with_model) {
  Eigen::VectorXd values(static_cast<Eigen::Index>(trials.size()));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const double reference = with_model ? trials[i]->predicted : 1;
    values[static_cast<Eigen::Index>(i)] = std::log(trials[i]->seconds / reference);
  }
  if (!with_model) values.array() -= values.mean();
  return values;
}

/// One point per trial: the coordinates of its parameters, then of its problem. A configuration
/// that is invalid in this space still counts if each of its values exists here.
Training training_of(const std::vector<PastProblem>& problems, const LevelCoordinates& coordinates,
                     bool with_model) {
  std::vector<Eigen::RowVectorXf> points;
  std::vector<double> targets;
  const std::size_t quota = kMostTrials / problems.size();
  for (const PastProblem& problem : problems) {
    const std::vector<const PastTrial*> trials = most_informative(problem.trials, quota);
    const Eigen::VectorXd values = residuals(trials, with_model);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const std::optional<Eigen::RowVectorXf> point = coordinates.point(trials[i]->configuration);
      if (!point) continue;
      points.emplace_back(point->size() + problem.sizes.size());
      points.back() << *point, problem.sizes;
      targets.push_back(values[static_cast<Eigen::Index>(i)]);
    }
  }
  const auto count = static_cast<Eigen::Index>(points.size());
  Training training{
      Points(count, count > 0 ? points.front().size() : 0), Eigen::VectorXd(count), {}};
  for (Eigen::Index i = 0; i < count; ++i) {
    training.points.row(i) = points[static_cast<std::size_t>(i)];
    training.targets[i] = targets[static_cast<std::size_t>(i)];
  }
  return training;
}

/// Adds alpha-weighted covariances with the training points, for the rows of `points` from `first`.
void add_shares(const Kernel& kernel, const Training& training, const Eigen::VectorXd& alpha,
                const Points& points, Eigen::Index first, Eigen::Ref<Eigen::VectorXf> sum) {
  const Points part = points.middleRows(first, sum.size());
  Eigen::VectorXf share(sum.size());
  for (Eigen::Index i = 0; i < alpha.size(); ++i) {
    covariances(kernel, training.points.row(i), part, share.data());
    sum += static_cast<float>(alpha[i]) * share;
  }
}

/// The posterior mean at every row of `points`, for targets of mean 0. Uses all cores: spaces are
/// large, and no measurement is running that this could disturb.
Eigen::VectorXf means(const Kernel& kernel, const Training& training, const Points& points) {
  const Eigen::Index count = training.points.rows();
  Eigen::MatrixXf among(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    covariances(kernel, training.points.row(i), training.points, among.col(i).data());
  }
  Eigen::MatrixXd covariance = among.cast<double>();
  covariance.diagonal().array() += std::exp(kernel.log_noise) + 1e-8;
  const Eigen::VectorXd alpha = covariance.llt().solve(training.targets);
  Eigen::VectorXf sum = Eigen::VectorXf::Zero(points.rows());
  const auto cores = static_cast<Eigen::Index>(std::max(1U, std::thread::hardware_concurrency()));
  const Eigen::Index part = std::max(kFewestRows, (points.rows() + cores - 1) / cores);
  std::vector<std::jthread> threads;
  for (Eigen::Index first = 0; first < points.rows(); first += part) {
    auto rows = sum.segment(first, std::min(part, points.rows() - first));
    threads.emplace_back(
        [&, first, rows] { add_shares(kernel, training, alpha, points, first, rows); });
  }
  threads.clear();
  return sum;
}

}  // namespace

std::vector<std::size_t> telling_problems(const NamedValues& problem,
                                          std::span<const NamedValues> others) {
  std::vector<std::pair<float, std::size_t>> all;
  for (std::size_t i = 0; i < others.size(); ++i) {
    all.emplace_back(size_coordinates(problem, others[i]).squaredNorm(), i);
  }
  const auto middle =
      all.begin() + static_cast<std::ptrdiff_t>(std::min(kMostProblems, all.size()));
  std::partial_sort(all.begin(), middle, all.end());
  std::vector<std::size_t> nearest;
  for (auto one = all.begin(); one != middle; ++one) nearest.push_back(one->second);
  return nearest;
}

std::vector<double> corrected_predictions(const ParameterSpace& space, const NamedValues& problem,
                                          std::span<const double> predicted,
                                          std::span<const PastTrial> history) {
  std::vector<double> corrected(predicted.begin(), predicted.end());
  const bool with_model = !predicted.empty();
  const LevelCoordinates coordinates(space);
  const std::vector<PastProblem> problems = nearest_problems(problem, history, with_model);
  if (problems.empty() || space.empty()) return corrected;
  Training training = training_of(problems, coordinates, with_model);
  if (training.targets.size() < 2) return corrected;

  const double mean = training.targets.mean();
  training.targets.array() -= mean;
  double deviation = std::sqrt(training.targets.array().square().mean());
  if (!(deviation > 1e-9)) deviation = 1;
  training.targets /= deviation;
  const Kernel kernel =
      fit_kernel(Kernel::prior(training.points.cols(), kWeakStep), training, kTransferFitSteps);

  Points points = Points::Zero(static_cast<Eigen::Index>(space.size()), training.points.cols());
  points.leftCols(static_cast<Eigen::Index>(coordinates.dimensions())) = coordinates.all_points();
  const Eigen::VectorXf residual = means(kernel, training, points);
  if (!with_model) corrected.assign(space.size(), problems.front().trials.front()->seconds);
  for (std::size_t i = 0; i < corrected.size(); ++i) {
    const double log_factor =
        mean + deviation * static_cast<double>(residual[static_cast<Eigen::Index>(i)]);
    corrected[i] *= std::exp(log_factor);
  }
  return corrected;
}

}  // namespace autotune
