// SPDX-License-Identifier: Apache-2.0
// Explains a result: the cost model's view of the best configuration, what became of the others,
// whether the search went well; the device's calibration and hardware counters.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/rows.hpp"
#include "db/store.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/core/target.hpp"
#include "tuner/model/calibration.hpp"
#include "tuner/model/coalescing.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/records/records.hpp"

namespace autotune {

// A device's calibration, measured once and stored in the database.

/// The stored figures of this device. Missing ones have their default.
Calibration stored_calibration(const db::TunedStore& store, const DeviceInfo& info);

/// Whether calibration_of() measures, which takes seconds. `store` may be null.
bool needs_calibration(const db::TunedStore* store, const Device& device);

/// Stored figures. If a CUDA device has none, they are measured and stored first. `store` may be
/// null. If calibration fails, the defaults are used.
Calibration calibration_of(db::TunedStore* store, Device& device);

/// One evaluation of a search.
struct SearchStep {
  Outcome outcome = Outcome::ok;
  std::optional<double> seconds = {};    // measured; a lower bound if pruned
  std::optional<double> predicted = {};  // by the cost model
  std::string message = {};              // why it failed
};

struct SearchHealth {
  std::size_t space = 0;  // its configurations
  int tried = 0;
  int ranked = 0;  // configurations with a measured and a predicted time, lower bounds included
  int timed = 0;   // of these, the ones measured to the end
  /// Spearman's, of these times; nullopt below kFewestRanked.
  std::optional<double> rank_correlation = {};
  int failed = 0;                           // neither timed nor pruned
  std::optional<Reason> main_failure = {};  // the most frequent reason
  /// By what share the last quarter of the evaluations lowered the best time. Nullopt if there are
  /// too few, or if nothing worked before.
  std::optional<double> last_gain = {};

  double failed_share() const { return tried > 0 ? static_cast<double>(failed) / tried : 0; }
  /// The model leads the search astray. A search measures what the model thinks fast, and this
  /// choice biases the correlation towards 0. So few times prove nothing. False if the whole space
  /// was tried, because the model then chose nothing.
  bool is_misled() const;
  /// Failures cost at least kOften of the budget.
  bool fails_often() const;
  /// The last quarter gained at least kGain, and a part of the space is untried.
  bool still_improves() const;

  static constexpr int kFewestRanked = 8;  // fewer say nothing about the order
  static constexpr int kFewestTimed = 30;  // fewer do not convict a model
  static constexpr int kFewestTried = 16;  // fewer say nothing about failures and progress
  static constexpr double kMisleading = 0.5;
  static constexpr double kOften = 0.2;
  static constexpr double kGain = 0.01;
};

/// `steps` are in order of evaluation, in a space of this size. The order of the first `unordered`
/// is unknown: they are what an earlier run left.
SearchHealth search_health(std::span<const SearchStep> steps, std::size_t space,
                           std::size_t unordered = 0);

/// A timed configuration and its place in the roofline plot.
struct ExplainedTrial {
  Configuration configuration;
  double seconds = 0;
  double flops_per_second = 0;
  double l2_intensity = 0;  // FLOPs per byte between L2 and the multiprocessors
  double tensor_roof = 0;   // FLOP/s; 0: it does not use tensor cores
};

/// A parameter that differs, such as `STAGES`, `3`, `4`. A value is empty if the parameter has no
/// meaning there.
struct Difference {
  std::string name, best, other;
};

struct Loser {
  ExplainedTrial trial;
  double slower = 0;  // 0.02: by 2 %
  CostEstimate estimate;
  std::vector<Difference> differences;
};

struct Explanation {
  bool same_source = true;  // the target has not changed since it was tuned
  GpuSpec gpu;
  Calibration calibration;
  double flops = 0;
  double tensor_roof = 0;  // of any configuration that was timed
  Configuration best;
  std::vector<Command> commands = {};  // of a target that is a program
  std::optional<double> seconds;       // measured
  std::optional<double> default_seconds = {};
  double noise_floor = 0;  // of the playoff; 0: unknown
  CostInput input;
  CostEstimate estimate;
  std::vector<KernelTraffic> accesses;  // of the best, as far as they are declared; none on a host
  std::vector<ExplainedTrial> timed;    // fastest first
  std::vector<Loser> losers;
  std::vector<Reason> reasons;  // most frequent first
  int tried = 0;
  SearchHealth health;
};

/// Explains the stored result of a problem, with at most `losers` losers. With free sizes, which
/// have no stored results, the configuration of `entry` by the model only. Throws Error if the best
/// configuration is no longer valid for the target.
Explanation explain(const db::TunedStore& store, const db::TunedEntry& entry, const Target& target,
                    std::size_t losers, const NamedValues& free = {});

// Hardware counters of the finalists of a stored result.

/// Counts one call of the best configuration, of the default and of those that tie, with a plugin's
/// counters/1, and stores the figures. No time of `device` counts afterwards. A configuration that
/// fails is left out with a warning. Throws Error if nothing can be counted.
void count_finalists(db::TunedStore& store, const db::TunedEntry& entry, const Target& target,
                     Device& device, const std::filesystem::path& plugin,
                     const std::function<void(const std::string&)>& warn);

}  // namespace autotune
