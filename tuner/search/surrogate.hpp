// SPDX-License-Identifier: Apache-2.0
// A Gaussian process over the candidates of a search, refitted as observations come in.
#pragma once

#include <span>
#include <vector>

#include "tuner/search/candidates.hpp"
#include "tuner/search/observations.hpp"
#include "tuner/search/posterior.hpp"

namespace autotune {

/// What the model says of every candidate, in the units of Targets.
struct Opinion {
  Eigen::ArrayXf mean;
  Eigen::ArrayXf success;  // probability that it works; empty when nothing has failed
  float best = 0;
};

class Surrogate {
 public:
  /// `candidates` must outlive it. `step` is Kernel::step.
  Surrogate(const Candidates& candidates, std::size_t batch, double step);

  /// Takes in what was observed since the last call; `points` holds one row an observation, and
  /// `predicted` one of log_predictions() each, or nothing without a cost model.
  Opinion update(const Observations& observations, const Points& points,
                 const Eigen::VectorXd& predicted);

  /// Supposes that these points, one a row, will be observed next, in this order, each with just
  /// the mean that it was expected to have. Those before that are still to come stand in front.
  void suppose(const Points& points);
  const Eigen::ArrayXf& variances() const { return posterior_.variances(); }

 private:
  bool outgrown(std::size_t observations) const;
  void fit(const Observations& observations, const Points& points,
           const Eigen::VectorXd& predicted);
  void take_in(const Observations& observations, const Points& points);
  Opinion opinion(const Observations& observations, const Eigen::VectorXd& predicted) const;

  const Candidates& candidates_;
  Kernel kernel_;
  Posterior posterior_;
  std::vector<std::size_t> used_;  // places of observations, as the posterior has them
  std::size_t seen_ = 0;           // observations taken in
  int drawing_ = -1;               // of the candidates that the posterior is of
  std::size_t fitted_ = 0;         // observations at the last fit
};

}  // namespace autotune
