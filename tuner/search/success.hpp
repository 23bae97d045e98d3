// SPDX-License-Identifier: Apache-2.0
// The probability that a configuration works: compiles, launches and computes the right result.
// Shared memory has a model of its own.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string_view>

#include "tuner/search/candidates.hpp"
#include "tuner/search/observations.hpp"

namespace autotune {

/// The two numbers in "uses too much shared data (0x15600 bytes, 0xc000 max)".
struct Refusal {
  double bytes = 0, limit = 0;
};
/// nullopt unless `reason` is such a refusal.
std::optional<Refusal> refusal_of(std::string_view reason);

/// The probability that a compiler accepts each candidate's shared memory. Comes from a linear
/// regression of the logarithm of the bytes, on compiled and on refused configurations. `features`
/// has one row per observation. Empty before the first refusal, with fewer than 8 known
/// configurations, and if one above the limit works: its shared memory is not all static.
Eigen::ArrayXf accepted_shared_memory(const Observations& observations,
                                      const Eigen::MatrixXd& features,
                                      const Eigen::MatrixXf& candidate_features);

/// A logistic regression with a ridge penalty, refitted by Newton's method with steps that never
/// raise the loss. Its features are the coordinates of the parameters, their squares and their
/// pairwise products. Configurations fail because of shared memory, registers or threads, and these
/// are such products. Refusals for shared memory are learned separately, by
/// accepted_shared_memory().
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
  /// `with_refused`: includes refusals for shared memory.
  void fit(const Observations& observations, const Eigen::MatrixXd& features, bool with_refused);

  const Candidates& candidates_;
  Eigen::Index dimensions_;
  std::size_t fitted_ = 0;   // observations
  int drawing_ = -1;         // of the candidates in `features_`
  Eigen::VectorXd weights_;  // one per feature
  Eigen::MatrixXf features_;
  Eigen::ArrayXf accepted_;  // of accepted_shared_memory()
  Eigen::ArrayXf success_;
};

}  // namespace autotune
