// SPDX-License-Identifier: Apache-2.0
// What was measured so far, and as a surrogate is told of it.
#pragma once

#include <Eigen/Core>
#include <span>
#include <unordered_map>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Every configuration that was answered for, once, in order.
class Observations {
 public:
  /// Ignores one that is there already.
  void add(const Evaluation& answer);

  std::size_t size() const { return indices_.size(); }
  std::size_t valid() const { return valid_; }
  bool contains(std::size_t index) const { return place_.contains(index); }
  const std::vector<std::size_t>& indices() const { return indices_; }
  /// The logarithm of the time, or nothing for a failure.
  std::optional<double> log_seconds(std::size_t place) const { return log_seconds_[place]; }
  /// Places of the valid ones, fastest first; equal times in the order of their indices.
  std::vector<std::size_t> fastest() const;
  double best() const { return best_; }  // log seconds; infinity before any is valid

 private:
  std::vector<std::size_t> indices_;
  std::vector<std::optional<double>> log_seconds_;
  std::unordered_map<std::size_t, std::size_t> place_;
  std::size_t valid_ = 0;
  double best_;

 public:
  Observations();
};

/// Log times made fit for a Gaussian process: those above the upper quartile are clipped to it, so
/// that bad configurations do not take up the model; shifted and scaled to mean 0, deviation 1. A
/// failure is given the median and counted apart.
struct Targets {
  Eigen::VectorXd values;
  Eigen::VectorXd failures;  // 0 or 1
  double mean = 0;           // log seconds
  double deviation = 1;
  double best = 0;  // the smallest of `values` that is no failure
  bool any_failure = false;
};
Targets targets_of(const Observations& observations, std::span<const std::size_t> places);

}  // namespace autotune
