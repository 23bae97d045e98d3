// SPDX-License-Identifier: Apache-2.0
// A Gaussian process over the candidates of a search, refitted as observations come in.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <span>
#include <vector>

#include "tuner/search/candidates.hpp"
#include "tuner/search/gaussian_process.hpp"

namespace autotune {

/// E[max(0, best - x)] of a normal x is deviation · h((best - mean) / deviation) with h(z) = z Φ(z)
/// + φ(z). A table holds h, because every step evaluates it for every candidate.
class ExpectedImprovement {
 public:
  ExpectedImprovement();
  /// 0 below z = -12.
  float h(float z) const {
    if (!(z > kLow)) return 0;
    if (z >= kHigh) return z;
    const float place = (z - kLow) * kPerUnit;
    const auto below = static_cast<int>(place);
    const float part = place - static_cast<float>(below);
    const float* const entry = table_.data() + below;
    return entry[0] + part * (entry[1] - entry[0]);
  }

 private:
  static constexpr float kLow = -12, kHigh = 6, kPerUnit = 256;
  std::vector<float> table_;
};

/// The posterior mean at every candidate, in the units of Targets.
struct Opinion {
  Eigen::ArrayXf mean;
  float best = 0;
  float deviation = 1;  // one unit, in log seconds
};

class Surrogate {
 public:
  /// `candidates` must outlive it. `step` is Kernel::step.
  Surrogate(const Candidates& candidates, std::size_t batch, double step);

  /// Adds the observations since the last call. `points` has one row per observation. `trend`
  /// has one value of Prior::trend() per observation, or none.
  Opinion update(const Observations& observations, const Points& points,
                 const Eigen::VectorXd& trend);

  /// Treats these configurations as observed at their predicted mean, until their results come
  /// ("kriging believer"). `points` has one row for each.
  void suppose(std::span<const std::size_t> indices, const Points& points);
  const Kernel& kernel() const { return kernel_; }
  const Eigen::ArrayXf& variances() { return posterior_.variances(); }

 private:
  bool outgrown(std::size_t observations) const;
  void fit(const Observations& observations, const Points& points, const Eigen::VectorXd& trend);
  void take_in(const Observations& observations, const Points& points);
  void start_again(const Observations& observations, const Points& points);
  /// One unit of Targets in that of the trend.
  double unit_of_trend(const Targets& targets) const;
  Opinion opinion(const Observations& observations, const Eigen::VectorXd& trend);

  const Candidates& candidates_;
  Kernel kernel_;
  Posterior posterior_;
  /// An observation of the posterior. `place` is its place in Observations; nullopt: supposed.
  struct Row {
    std::size_t index;
    std::optional<std::size_t> place;
  };
  std::vector<Row> rows_;   // in the posterior's order
  std::size_t seen_ = 0;    // observations added
  int drawing_ = -1;        // of the posterior's candidates
  std::size_t fitted_ = 0;  // observations at the last fit
};

// The probability that a configuration works: compiles, launches and computes the right result.
/// A logistic regression with a ridge penalty, refitted by Newton's method with steps that never
/// raise the loss. Its features are the coordinates of the parameters, their squares and their
/// pairwise products. Configurations fail because of shared memory, registers or threads, and these
/// are such products.
class SuccessModel {
 public:
  /// Uses the first `dimensions` columns of points. `candidates` must outlive it.
  SuccessModel(const Candidates& candidates, std::size_t dimensions)
      : candidates_(candidates), dimensions_(static_cast<Eigen::Index>(dimensions)) {}

  /// The probability of success of each candidate, at least 0.02; empty while nothing has failed.
  /// `points` has one row per observation.
  const Eigen::ArrayXf& update(const Observations& observations, const Points& points);

  /// Whether a candidate will fail with a probability above 90 %, by the last update.
  bool expects_failure(std::size_t row) const {
    return success_.size() > 0 && success_[static_cast<Eigen::Index>(row)] < 0.1F;
  }

 private:
  void fit(const Observations& observations, const Eigen::MatrixXd& features);

  const Candidates& candidates_;
  Eigen::Index dimensions_;
  std::size_t fitted_ = 0;   // observations
  int drawing_ = -1;         // of the candidates in `features_`
  Eigen::VectorXd weights_;  // one per feature
  Eigen::MatrixXf features_;
  Eigen::ArrayXf success_;
};

}  // namespace autotune
