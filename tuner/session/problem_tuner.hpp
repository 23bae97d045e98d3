// SPDX-License-Identifier: Apache-2.0
// One device of a run: takes a problem from its space to its decision.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/deadline.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/session/compile_pool.hpp"
#include "tuner/session/finalists.hpp"
#include "tuner/session/problem_run.hpp"
#include "tuner/session/trial_ledger.hpp"
#include "tuner/session/tuning_request.hpp"
#include "tuner/session/work_queue.hpp"

namespace autotune {

/// What all devices of a run share. All of it must outlive them.
struct SharedByDevices {
  const Target& target;
  const TuningRequest& request;
  PreparedProblems& problems;
  WorkQueue& queue;
  CompilePool& pool;
};

/// What is tuned next.
struct TuningOrder {
  std::size_t place = 0;           // in the queue
  std::size_t number = 0;          // of the request's problems
  std::vector<std::size_t> ahead;  // numbers of those that will probably follow, here or elsewhere
  Deadline deadline;
  int batch = 1;  // configurations that the search compiles at a time
  bool retune = false;
};

/// For one thread. Several may tune on one device, in turns.
class ProblemTuner {
 public:
  /// All must outlive it. `store` may be null.
  ProblemTuner(const SharedByDevices& shared, Device& device, db::TunedStore* store,
               const TuningCallbacks& callbacks)
      : shared_(shared), device_(device), store_(store), callbacks_(callbacks) {}

  /// Searches, decides and stores. Throws Error when the target is wrong or the environment breaks.
  ProblemReport tune(const TuningOrder& order);

 private:
  db::ProblemKey key_of(const Problem& problem);
  Recorder recorder_of(const Problem& problem);
  EdgeCheck& edge_of(const Problem& problem);
  /// Returns what going on was expected to gain, with an automatic budget.
  std::optional<double> search(ProblemRun& run, EdgeCheck& edge, const TuningOrder& order,
                               Deadline::Clock::time_point started);
  bool begin_search(ProblemRun& run, EdgeCheck& edge, TrialEvaluator& evaluator);
  void start_from_elsewhere(const ProblemRun& run, TrialEvaluator& evaluator);
  void expect_default_right_at_edge(ProblemRun& run, EdgeCheck& edge);
  void compile_ahead(ProblemRun& run, const EdgeCheck& edge, std::size_t index);
  void store_classes(ProblemRun& run, const ProblemDecision& decision);
  void warn_of_machine(const ProblemRun& run) const;
  void warn_of_disturbance(const ProblemRun& run);
  void warn_of_bounds(const ProblemRun& run) const;
  void teach(std::vector<PastTrial> trials);
  void prepare_next(std::size_t place);
  ProblemDecision finish(ProblemRun& run, EdgeCheck& edge, const TuningOrder& order);
  StopRequested stop_of_search(const ProblemRun& run, const Deadline& deadline) const;
  void warn(const std::string& sentence) const {
    if (callbacks_.on_warning) callbacks_.on_warning(sentence);
  }
  bool stopped() const { return callbacks_.stop_requested && callbacks_.stop_requested(); }

  const SharedByDevices shared_;
  Device& device_;
  db::TunedStore* const store_;
  const TuningCallbacks& callbacks_;
  std::optional<SessionRows> rows_;  // from the first problem on
  StartedFrom started_from_;         // of the problem at hand
  std::unique_ptr<EdgeCheck> edge_;  // of the last problem
  bool warned_of_disturbance_ = false;
};

}  // namespace autotune
