// SPDX-License-Identifier: Apache-2.0
// What was measured at tuned problems, with everything that does not depend on the sizes of a later
// question: levels of configurations, cost models and their errors, ideal times. Times are
// logarithms of seconds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "db/past_times.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/model/cost_model.hpp"

namespace autotune {

// A target with fixed settings on one device, for any sizes. Free sizes may follow those of the
// key; they decide validity and expected times, and stored results are found without them.

/// The sizes of the key, without free ones.
inline std::span<const std::int64_t> key_of(const Target& target,
                                            std::span<const std::int64_t> sizes) {
  return sizes.first(std::min(sizes.size(), target.sizes.size()));
}

/// References only: what they refer to must outlive it.
struct SizedTarget {
  const Target& target;
  const Problem& smallest;  // every size as small as may be, and the settings
  const DeviceInfo& device;
  const TargetProgram& program;  // with given sizes

  std::span<const std::int64_t> key(std::span<const std::int64_t> sizes) const {
    return key_of(target, sizes);
  }
  /// Whether free sizes follow. After away_from_defaults(): whether some have other values.
  bool is_away(std::span<const std::int64_t> sizes) const {
    return sizes.size() > target.sizes.size();
  }
  /// Without free sizes at the end that are left to their defaults.
  std::span<const std::int64_t> without_defaults(std::span<const std::int64_t> sizes) const;
  /// The same without free sizes that have the value of their default.
  std::vector<std::int64_t> away_from_defaults(std::span<const std::int64_t> sizes) const;
  /// What these sizes share with others for which times are the same: the sizes of the key, and
  /// away from the defaults of free sizes how lines are aligned.
  std::vector<std::int64_t> class_of(std::span<const std::int64_t> sizes) const;

  /// log2 of the number of elements that divides the lengths of all lines of the arrays: of the
  /// free sizes, by default or as given; kAligned at most. Vendors' libraries have other kernels
  /// for lines that are not aligned, which take up to nine times as long in 16 bits.
  int line_alignment(std::span<const std::int64_t> sizes) const;
  static constexpr int kAligned = 3;

  /// False also for no levels, and where a constraint cannot be evaluated.
  bool is_valid(const std::optional<Levels>& levels,
                std::span<const std::int64_t> sizes) const noexcept;
  /// Throws UsageError for a wrong count of sizes, a size below 1, and a problem that the target
  /// refuses.
  void check(std::span<const std::int64_t> sizes) const;
  Problem problem_with(std::span<const std::int64_t> sizes) const;
  /// Checks the sizes, and leaves out free ones that have the value of their default.
  Problem problem_for(std::span<const std::int64_t> sizes) const;
};

/// The levels of a stored text. nullopt if it is not a configuration of the target.
std::optional<Levels> levels_in(const Target& target, std::string_view configuration);

/// False also where a constraint cannot be evaluated.
bool is_valid(const TargetProgram& program, const Levels& levels,
              std::span<const std::int64_t> sizes) noexcept;

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

// How far expectations of our lead over the vendor's library are off, learnt where both were timed.

// Expected times at sizes that were not tuned, from the cost model and from times at near sizes.
// Times are logarithms of seconds. Distances are root mean squares of log2 of the sizes' ratios.
// The constants were found on an H200, see docs/model.md.

/// Added to the distance of what was tuned on another GPU of the architecture.
inline constexpr double kOtherDevice = 0.5;

/// The model's error for a configuration at the nearest problem where it was timed.
struct KnownError {
  double log_error = 0;  // measured less predicted
  double distance = 0;
};

/// The model's error for a typical configuration: a mean weighted towards near problems. 0 without
/// errors.
double typical_error(std::span<const KnownError> errors);

/// The expected time of a configuration. Near the problem of `known`, the model's error is assumed
/// to be the same; far away, to be `typical`. Without `known`, the configuration is assumed to be
/// slower than predicted, because the least of many predictions tend to be too low.
double expected_time(double predicted, const std::optional<KnownError>& known, double typical);

/// The vendor's library at a tuned problem.
struct BaselineTime {
  double reference = 0;  // the problem's ideal time
  double measured = 0;
  double distance = 0;
};

/// The expected time of the library's best candidate where a problem ideally takes `reference`.
/// Averages the ratio of measured to ideal times over problems of similar sizes and times. nullopt
/// without `times`.
std::optional<double> expected_baseline_time(std::span<const BaselineTime> times, double reference);

/// Whether to take another answer, where one of the two times is only expected. Both are logarithms
/// of seconds. The other must be clearly ahead, the more the farther away the problems are (in
/// doublings of sizes) that it is known from. A wrong choice costs more than a missed one: kernels
/// on tensor cores launch another one first and need a workspace.
bool has_clear_lead(double ours, double others, double distance);

/// A tuned problem, with its distance from the requested sizes.
struct NearProblem {
  const KnownProblem* known;
  double distance;
};

/// The nearest beyond a radius, the nearest first. Those of another device than asked for count as
/// further away.
std::vector<NearProblem> nearest(const KnownTimes& known, std::span<const std::int64_t> sizes,
                                 bool is_here, std::size_t most, double radius = -1);

/// Computed when it is first asked. Thread-safe. `known` must outlive it.
class LeadErrors {
 public:
  explicit LeadErrors(const KnownTimes& known);

  /// The times of the library at these problems. Times of problems whose other sizes are 1 count as
  /// further away, and so do times of another line_alignment(), if expectations are then closer to
  /// what was measured. Without a model, those of this device only, relative to the winner's time.
  std::vector<BaselineTime> library_times(std::span<const NearProblem> near,
                                          std::span<const std::int64_t> sizes, int alignment) const;

  /// What must be added to the logarithm of our expected time so that the sum is below the
  /// library's only where ours is faster, with this confidence. `distance` is that to the nearest
  /// problem where the library was timed, `seconds` its expected time, `alignment`
  /// line_alignment(). Infinity if too little is known.
  ///
  /// It is a quantile of past errors, by Student's t: each problem in turn counts as not tuned,
  /// together with all problems within at least `distance` of it, and what is expected there from
  /// the others is compared with what was measured. Errors of short and of long calls are apart;
  /// where one of them has too few, those of aligned lines and of others are.
  double margin(double distance, double seconds, int alignment, double confidence) const;

  static constexpr std::size_t kFewest = 20;  // times of the library

 private:
  struct LeadError {
    double error;
    bool is_short, is_aligned;
  };
  struct Errors {  // of one radius
    std::once_flag computed;
    std::vector<LeadError> all;
  };
  static constexpr std::array<double, 4> kRadii{0.35, 0.7, 1.4, 2.8};

  std::vector<BaselineTime> library_times(std::span<const NearProblem> near,
                                          std::span<const std::int64_t> sizes, int alignment,
                                          double other_alignment) const;
  double closest_alignment() const;
  double reference_of(const KnownProblem& one) const;
  void compute(double radius, Errors& errors) const;

  const KnownTimes& known_;
  std::vector<const KnownProblem*> timed_;  // where both were timed; every few, if there are many
  const std::unique_ptr<std::once_flag> is_alignment_decided_;
  mutable double other_alignment_ = 0;
  const std::unique_ptr<std::array<Errors, kRadii.size()>> errors_;
};

}  // namespace autotune
