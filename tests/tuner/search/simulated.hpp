// SPDX-License-Identifier: Apache-2.0
// Spaces with known results, and an evaluator that counts evaluations.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace autotune::simulated {

/// Parameters P0, P1, … with these numbers of values (0, 1, …), every combination valid.
inline ParameterSpace grid(const std::vector<int>& sizes) {
  std::vector<Parameter> parameters;
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    Parameter parameter{"P" + std::to_string(p), {}, std::nullopt, false};
    for (int value = 0; value < sizes[p]; ++value) parameter.values.emplace_back(value);
    parameters.push_back(std::move(parameter));
  }
  return ParameterSpace(std::move(parameters), std::span<const Expression>{}, Scope{});
}

/// Seconds for levels; nullopt for a failure.
using Truth = std::function<std::optional<double>(const Levels&)>;

/// A valley with its floor, 1 s, at level 2 of every parameter.
inline std::optional<double> valley(const Levels& levels) {
  double seconds = 1;
  for (const int level : levels) seconds += (level - 2) * (level - 2);
  return seconds;
}

class Bench : public Evaluator {
 public:
  Bench(const ParameterSpace& space, Truth truth, std::size_t budget, int batch = 1)
      : space_(space), truth_(std::move(truth)), budget_(budget), batch_(batch) {}

  const ParameterSpace& space() const override { return space_; }
  int batch() const override { return batch_; }
  std::size_t remaining() const override { return budget_ - asked_.size(); }
  std::span<const double> predicted() const override { return predicted_; }
  std::span<const Evaluation> known() const override { return known_; }
  std::size_t suggested() const override { return suggested_; }
  void prefetch(std::span<const std::size_t> indices) override {
    for (const std::size_t index : indices) {
      prefetched_.insert(index);
      if (!seen_.contains(index)) in_flight_.insert(index);
    }
    most_in_flight_ = std::max(most_in_flight_, in_flight_.size());
  }
  std::vector<bool> ready(std::span<const std::size_t> indices) override {
    std::vector<bool> answers;
    for (const std::size_t index : indices) answers.push_back(ready_ && ready_(index));
    return answers;
  }
  std::vector<Evaluation> evaluate(std::span<const std::size_t> indices) override {
    ++rounds_;
    std::vector<Evaluation> answers;
    for (const std::size_t index : indices) {
      EXPECT_LT(index, space_.size());
      if (!seen_.contains(index)) {
        if (remaining() == 0) return answers;
        seen_.insert(index);
        in_flight_.erase(index);
        asked_.push_back(index);
      }
      answers.push_back(answer(index));
    }
    return answers;
  }

  Evaluation answer(std::size_t index) const {
    const auto seconds = truth_(space_.levels(index));
    return {index, seconds ? Outcome::ok : Outcome::launch_error, seconds};
  }
  void predict(std::vector<double> predicted) { predicted_ = std::move(predicted); }
  void make_ready(std::function<bool(std::size_t)> ready) { ready_ = std::move(ready); }
  void know(std::size_t index) { known_.push_back(answer(index)); }
  void suggest(std::size_t index) {
    know(index);
    ++suggested_;
  }

  /// The evaluated configurations, each once, in order.
  const std::vector<std::size_t>& asked() const { return asked_; }
  const std::set<std::size_t>& prefetched() const { return prefetched_; }
  /// Largest number of configurations prefetched and not yet evaluated.
  std::size_t most_in_flight() const { return most_in_flight_; }
  int rounds() const { return rounds_; }
  std::optional<double> best() const {
    std::optional<double> best;
    for (const std::size_t index : asked_) {
      const auto seconds = truth_(space_.levels(index));
      if (seconds && (!best || *seconds < *best)) best = seconds;
    }
    return best;
  }

 private:
  const ParameterSpace& space_;
  Truth truth_;
  std::size_t budget_;
  int batch_;
  std::vector<double> predicted_;
  std::function<bool(std::size_t)> ready_;
  std::vector<Evaluation> known_;
  std::size_t suggested_ = 0;
  std::vector<std::size_t> asked_;
  std::set<std::size_t> seen_, prefetched_, in_flight_;
  std::size_t most_in_flight_ = 0;
  int rounds_ = 0;
};

}  // namespace autotune::simulated
