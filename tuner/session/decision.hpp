// SPDX-License-Identifier: Apache-2.0
// The decision on one problem, and its database row; the baselines in the playoff, which are
// vendors' libraries.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/rows.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/core/parameter_space.hpp"
#include "tuner/measure/playoff.hpp"
#include "tuner/measure/statistics.hpp"

namespace autotune {

/// One of a library's ways to compute the problem.
struct BaselineCandidate {
  BaselineSource source;
  std::size_t number = 0;
  std::string name;
  std::unique_ptr<Candidate> candidate;
  double seconds = 0;  // per launch
};

/// Loads it, also again on another workbench. If that fails, timing it fails.
void reload(BaselineCandidate& baseline, Workbench& bench);

/// The first candidate of each library (its default) and the fastest others, of those that are
/// correct. Failing candidates are left out. If a whole library fails, `warn` gets a sentence.
std::vector<BaselineCandidate> find_baselines(Workbench& bench,
                                              std::span<const BaselineSource> sources,
                                              const std::function<void(const std::string&)>& warn);

/// The baselines of one problem. They are found once, and then loaded when they are to be timed.
class Baselines {
 public:
  explicit Baselines(std::span<const BaselineSource> sources) : sources_(sources) {}

  /// Runs find_baselines() at the first call. Leaves no candidate loaded.
  void find(Workbench& bench, const std::function<void(const std::string&)>& warn);
  /// Whether find() has run, or there are no libraries.
  bool are_found() const { return found_.has_value() || sources_.empty(); }
  /// Loads all that were found. One that cannot be loaded fails when it is timed.
  std::vector<BaselineCandidate>& loaded(Workbench& bench);
  /// How many were found; before that, the number of libraries.
  std::size_t size() const { return found_ ? found_->size() : sources_.size(); }

 private:
  std::span<const BaselineSource> sources_;
  std::optional<std::vector<BaselineCandidate>> found_;
};

/// A configuration with its figures from the playoff.
struct Tuned {
  Configuration configuration;
  Measurement measurement;
  std::optional<double> cold_seconds;  // in the other L2 state
  bool verified = false;
  std::map<CallContext, Measurement> other_contexts = {};  // as the playoff timed it there
  std::optional<Energy> energy = {};                       // if the objective is not time
  std::optional<bool> repeats = {};  // whether its verified runs gave the same bits
};

/// A baseline's figures from the playoff.
struct BaselineReport {
  std::string plugin;  // file name
  std::string name;    // the library's choice
  Measurement measurement;
  Ratio to_best;      // time over that of the best configuration, paired
  bool wins = false;  // the whole interval of the ratio is below 1
};

struct ProblemDecision {
  std::optional<Tuned> best;                   // absent if no configuration is correct
  std::optional<Tuned> default_configuration;  // absent if it fails
  std::vector<Configuration> ties;
  std::vector<BaselineReport> baselines;  // fastest first
  std::vector<Tuned> front;               // Pareto front of time and energy, fastest first
  double noise_floor = 0;                 // relative spread of the playoff's A/A pair
  double tie_margin = 0;                  // of the ties; 0: not known
  /// A finalist seems faster than the best, but this many blocks of the playoff were too few to
  /// replace it; 0: there were enough.
  int open_after_blocks = 0;
  bool predicted = false;  // the device cannot run: chosen by the cost model
  /// The step that had no time left; empty if all had. If set, there is no best and no record.
  std::string undone;
};

/// The row of a decision that has a best. `flops` is per call. `binary_key` belongs to the best
/// configuration's kernel.
db::DecisionRow row_of(const ProblemDecision& decision, double flops,
                       const std::string& binary_key);

/// The decision in a stored row; `best` must have a time. The row holds the fastest baseline only.
/// Its ratio is computed from the stored times, without pairs.
ProblemDecision decision_of(const db::BestRow& row);

/// The finalists of a playoff, in its order; `result` has the baselines behind them.
struct PlayedOff {
  std::vector<Configuration> finalists;
  std::optional<std::size_t> by_default;  // the default configuration, if it took part
  std::span<const BaselineCandidate> baselines;
  const PlayoffResult& result;
};

struct ContextDecision {
  std::size_t winner = 0;
  ProblemDecision decision;
};

/// The playoff's winner stays, unless another finalist is faster there by more than the policy's
/// margin and the intervals of the two, each of kFewestForInterval samples, are apart. nullopt if
/// the winner has no time there.
std::optional<ContextDecision> decision_in(CallContext context, const PlayedOff& played,
                                           const Policy& policy);

}  // namespace autotune
