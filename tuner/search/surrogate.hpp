// SPDX-License-Identifier: Apache-2.0
// A Gaussian process over the candidates of a search, refitted as observations come in.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tuner/search/candidates.hpp"
#include "tuner/search/observations.hpp"
#include "tuner/search/posterior.hpp"

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

  /// Adds the observations since the last call. `points` has one row per observation. `predicted`
  /// has one value of log_predictions() per observation, or none without a cost model.
  Opinion update(const Observations& observations, const Points& points,
                 const Eigen::VectorXd& predicted);

  /// Treats these configurations as observed at their predicted mean, until their results come
  /// ("kriging believer"). `points` has one row for each.
  void suppose(std::span<const std::size_t> indices, const Points& points);
  const Kernel& kernel() const { return kernel_; }
  const Eigen::ArrayXf& variances() { return posterior_.variances(); }

 private:
  bool outgrown(std::size_t observations) const;
  void fit(const Observations& observations, const Points& points,
           const Eigen::VectorXd& predicted);
  void take_in(const Observations& observations, const Points& points);
  void start_again(const Observations& observations, const Points& points);
  Opinion opinion(const Observations& observations, const Eigen::VectorXd& predicted);

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

}  // namespace autotune
