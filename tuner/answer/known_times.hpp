// SPDX-License-Identifier: Apache-2.0
// What was measured at tuned problems, with everything that does not depend on the sizes of a later
// question: levels of configurations, cost models and their errors, ideal times. Times are
// logarithms of seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
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

struct LevelsHash {
  std::size_t operator()(const Levels& levels) const noexcept;
};

/// A stored configuration, and the time that was measured.
struct KnownTime {
  const db::PastTime* time = nullptr;
  const Levels* levels = nullptr;  // nullptr: the target has no such configuration
  std::size_t number = 0;          // of the levels, below KnownTimes::count()
  std::optional<double> error;     // of the model
};

struct KnownProblem {
  const db::PastProblem* problem = nullptr;
  bool is_here = false;         // on the target's device
  std::vector<KnownTime> good;  // the fastest
  std::optional<KnownTime> standard, pinned;
  double ideal = 0;   // PredictionsAt::ideal(), if the library was timed
  int alignment = 0;  // line_alignment(), if the library was timed
};

/// Computed once. Thread-safe. What `sized` refers to must outlive it.
class KnownTimes {
 public:
  KnownTimes(const SizedTarget& sized, db::PastTimes times);
  KnownTimes(const KnownTimes&) = delete;
  KnownTimes& operator=(const KnownTimes&) = delete;

  /// In the order of the past times.
  std::span<const KnownProblem> problems() const { return problems_; }
  const PastModels& models() const { return models_; }
  const db::PastTimes& times() const { return times_; }
  /// Distinct configurations.
  std::size_t count() const { return numbers_.size(); }
  std::optional<std::size_t> number_of(const Levels& levels) const;
  /// Configurations that failed for exactly these sizes on the target's device.
  std::span<const Levels> failed_at(std::span<const std::int64_t> sizes) const;

  static constexpr std::size_t kOfEach = 6;  // good configurations taken from a problem

 private:
  class Reader;

  const db::PastTimes times_;
  const PastModels models_;
  std::unordered_map<Levels, std::size_t, LevelsHash> numbers_;
  std::vector<KnownProblem> problems_;
  std::map<std::vector<std::int64_t>, std::vector<Levels>> failed_;
};

}  // namespace autotune
