// SPDX-License-Identifier: Apache-2.0
// The evaluations so far, and their form as training data of a surrogate.
#pragma once

#include <Eigen/Core>
#include <span>
#include <unordered_map>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Every evaluated configuration, once, in order of evaluation.
class Observations {
 public:
  /// Ignores a configuration that is already there.
  void add(const Evaluation& answer);

  std::size_t size() const { return indices_.size(); }
  std::size_t valid() const { return valid_; }
  bool contains(std::size_t index) const { return place_.contains(index); }
  const std::vector<std::size_t>& indices() const { return indices_; }
  /// The logarithm of the time; nullopt for a failure.
  std::optional<double> log_seconds(std::size_t place) const { return log_seconds_[place]; }
  /// Places of the valid configurations, fastest first; ties in the order of their indices.
  std::vector<std::size_t> fastest() const;
  /// The logarithm of its bytes of shared memory; nullopt if unknown. A compiler also names the
  /// bytes when it refuses a configuration.
  std::optional<double> log_shared_bytes(std::size_t place) const { return log_shared_[place]; }
  /// Whether a compiler refused it for its shared memory.
  bool refused(std::size_t place) const { return refused_[place] != 0; }
  /// The logarithm of the largest size that compilers accept; nullopt before the first refusal.
  std::optional<double> log_shared_limit() const { return log_shared_limit_; }
  double best() const { return best_; }  // log seconds; infinity before any is valid

 private:
  void note_shared_memory(const Evaluation& answer);

  std::vector<std::size_t> indices_;
  std::vector<std::optional<double>> log_seconds_;
  std::unordered_map<std::size_t, std::size_t> place_;
  std::vector<std::optional<double>> log_shared_;
  std::vector<char> refused_;
  std::optional<double> log_shared_limit_;
  std::size_t valid_ = 0;
  double best_;

 public:
  Observations();
};

/// Training targets of a Gaussian process: log times, clipped at the upper quartile and
/// standardized to mean 0, deviation 1. Clipping keeps slow configurations from dominating the fit.
/// A failure gets the median.
struct Targets {
  Eigen::VectorXd values;
  double mean = 0;  // log seconds
  double deviation = 1;
  double best = 0;  // the smallest of `values` without failures
};
Targets targets_of(const Observations& observations, std::span<const std::size_t> places);

}  // namespace autotune
