// SPDX-License-Identifier: Apache-2.0
// The cost models of the devices on which a target was tuned, and their errors there. Times are
// logarithms of seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/past_times.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/runtime/sized_target.hpp"

namespace autotune {

/// Not thread-safe. Its arguments must outlive it.
class PastModels {
 public:
  PastModels(const SizedTarget& sized, const db::PastTimes& times);

  /// Whether the target has a cost model and a default configuration.
  bool has_model() const { return here_.has_value(); }
  /// For each of the devices of `times`: whether it is the target's.
  const std::vector<bool>& same_device() const { return same_device_; }

  /// The predicted time on the target's device. nullopt if the model has none.
  std::optional<double> predicted(const Levels& levels, std::span<const std::int64_t> sizes) const;
  /// The measured time less the prediction of the model of the device where it was measured.
  /// nullopt if the time was not measured, or cannot be predicted.
  std::optional<double> error(const db::PastProblem& problem, const db::PastTime& time);

  /// What a call ideally takes on the target's device, or at a past problem on that problem's
  /// device, with the start of the kernel. Infinity if it is not known.
  double ideal(std::span<const std::int64_t> sizes) const;
  double ideal(const db::PastProblem& problem) const;

  /// levels_in(), remembered.
  const std::optional<Levels>& levels_of_text(const std::string& configuration);

 private:
  std::span<const std::int64_t> sizes_of(const db::PastProblem& problem) const;
  double ideal(const std::optional<SizedCostModel>& model,
               std::span<const std::int64_t> sizes) const;

  const SizedTarget sized_;
  std::optional<SizedCostModel> here_;
  Levels default_levels_;                              // if the target has a model
  std::vector<bool> same_device_;                      // of each device of the past times
  std::vector<std::optional<SizedCostModel>> models_;  // of each device of the past times
  std::map<std::string, std::optional<Levels>> levels_;
  std::map<const db::PastTime*, std::optional<double>> errors_;
};

}  // namespace autotune
