// SPDX-License-Identifier: Apache-2.0
// A Gaussian process over the candidates of a search, refitted as observations come in.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tuner/search/observations.hpp"
#include "tuner/search/posterior.hpp"

namespace autotune {

/// Configurations that may be proposed next, as points.
struct Candidates {
  std::vector<std::size_t> indices;  // ascending
  Points points;                     // one row each
  Eigen::ArrayXf predicted;          // the cost model's log seconds, clipped; empty without one
};

/// What the model says of every candidate, in the units of Targets.
struct Opinion {
  Eigen::ArrayXf mean;
  Eigen::ArrayXf success;  // probability that it works; empty when nothing has failed
  double best = 0;
};

class Surrogate {
 public:
  /// `candidates` must outlive it. `step` is Kernel::step.
  Surrogate(const Candidates& candidates, std::size_t batch, double step);

  /// Takes in what was observed since the last call; `points` holds one row an observation, and
  /// `predicted` one figure each where candidates have them. With `rebuild` the candidates have
  /// changed.
  Opinion update(const Observations& observations, const Points& points,
                 const Eigen::VectorXd& predicted, bool rebuild);

  /// Supposes that a point was observed with just the mean that it was expected to have.
  void suppose(const Eigen::Ref<const Eigen::RowVectorXf>& point) { posterior_.observe(point); }
  const Eigen::ArrayXf& variances() const { return posterior_.variances(); }

 private:
  const Candidates& candidates_;
  Kernel kernel_;
  Posterior posterior_;
  std::vector<std::size_t> used_;  // places of observations, as the posterior has them
  std::size_t seen_ = 0;           // observations taken in
  std::size_t fitted_ = 0;         // observations at the last fit
};

}  // namespace autotune
