// SPDX-License-Identifier: Apache-2.0
// The cost models of the devices on which a target was tuned. Times are logarithms of seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "db/past_times.hpp"
#include "tuner/answer/sized_target.hpp"
#include "tuner/model/cost_model.hpp"

namespace autotune {

/// Predictions for many configurations at the sizes of one problem. Not thread-safe.
class PredictionsAt {
 public:
  /// The arguments must outlive it. Without a model, nothing is predicted.
  PredictionsAt(const SizedCostModel* model, const Levels& default_levels,
                std::span<const std::int64_t> sizes);

  /// nullopt if the model has none.
  std::optional<double> time(std::span<const std::uint16_t> levels);
  /// The measured time less the predicted one. nullopt if it was not measured or cannot be
  /// predicted.
  std::optional<double> error(std::span<const std::uint16_t> levels, const db::PastTime& measured);
  /// What a call ideally takes, with the start of the kernel. Infinity if it is not known.
  double ideal();

 private:
  std::optional<SizedCostModel::AtSizes> model_;
  const Levels& default_levels_;
};

/// Thread-safe. Its arguments must outlive it.
class PastModels {
 public:
  PastModels(const SizedTarget& sized, const db::PastTimes& times);

  /// Whether the target has a cost model and a default configuration.
  bool has_model() const { return here_.has_value(); }
  /// For each of the devices of `times`: whether it is the target's.
  const std::vector<bool>& same_device() const { return same_device_; }

  /// On the target's device.
  PredictionsAt at(std::span<const std::int64_t> sizes) const;
  /// On the device where the problem was tuned.
  PredictionsAt at(const db::PastProblem& problem) const;

 private:
  PredictionsAt at(const std::optional<SizedCostModel>& model,
                   std::span<const std::int64_t> sizes) const;

  std::optional<SizedCostModel> here_;
  Levels default_levels_;                              // if the target has a model
  std::vector<bool> same_device_;                      // of each device of the past times
  std::vector<std::optional<SizedCostModel>> models_;  // of each device of the past times
};

}  // namespace autotune
