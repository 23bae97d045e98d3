// SPDX-License-Identifier: Apache-2.0
// What was measured at tuned problems, with everything that does not depend on the sizes of a later
// question: levels of configurations, errors of the cost model, ideal times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "db/past_times.hpp"
#include "tuner/answer/past_models.hpp"
#include "tuner/answer/sized_target.hpp"

namespace autotune {

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
  double ideal = 0;  // PredictionsAt::ideal(), if the library was timed
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
