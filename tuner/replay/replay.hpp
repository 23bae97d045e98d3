// SPDX-License-Identifier: Apache-2.0
// Evaluates a strategy: replays a recorded space with many seeds, without a GPU, and scores the
// runs.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "db/rows.hpp"
#include "tuner/core/parameter_space.hpp"
#include "tuner/interchange/recorded_results.hpp"
#include "tuner/search/strategy.hpp"

namespace autotune {

/// A search space with all results known: read from other tuners' files, or simulated.
struct RecordedSpace {
  std::string name;  // `gemm-rtx2080ti`
  ParameterSpace space;
  std::vector<Evaluation> answers;      // one per index of the space
  std::vector<double> compile_seconds;  // the same; 0 if the file has none
  std::vector<double> total_seconds;    // the same: all that evaluating it cost, compiling too
  std::vector<double> predicted = {};   // the cost model's times, if the file has them all
  std::optional<std::size_t> default_index = {};  // if the file marks one

  /// The shortest time; infinity if every configuration fails.
  double best() const;
  std::size_t failures() const;
};

/// The space of recorded results. Of several with the same values, the last counts. Throws Error
/// for a value that its parameter does not list.
RecordedSpace recorded_space(std::string name, RecordedResults results);

/// recorded_space() of read_recorded_results(), under the file's name.
RecordedSpace read_recorded_space(const std::filesystem::path& file);

/// Numbers of evaluations at which a run's best time is reported.
inline constexpr std::array<std::size_t, 5> kCheckpoints = {10, 20, 50, 100, 200};

/// The same in seconds of the run, where several configurations compile at a time.
inline constexpr std::array<double, 4> kMoments = {30, 60, 120, 180};

struct ReplayRun {
  std::uint64_t seed = 0;
  std::vector<double> ratios;  // best so far / optimum after each evaluation; infinity before any
  double own_seconds = 0;      // the strategy's own time per evaluation
  std::vector<std::size_t> order = {};   // the configurations that were evaluated
  std::vector<double> measured_at = {};  // seconds of the run, without the strategy's own time

  /// The ratio after this many evaluations, or after the last of a shorter run.
  double ratio_at(std::size_t evaluations) const;
  /// The ratio at this second of the run; infinity before the first result.
  double ratio_after(double seconds) const;
  /// The first evaluation (from 1) with a best within `share` of the optimum; nullopt if there is
  /// none.
  std::optional<std::size_t> evaluations_to(double share) const;
};

/// The run that evaluated `order`, one configuration at a time. `own_seconds`: the strategy's own
/// time in all.
ReplayRun run_of(const RecordedSpace& recorded, std::uint64_t seed, std::vector<std::size_t> order,
                 double own_seconds);

struct ReplayRequest {
  std::string strategy = "guided";
  std::size_t budget = 200;
  int seeds = 40;  // 1 .. seeds
  /// Threads that compile. With several, runs are as those of `tune`: each seed has another default
  /// configuration, which is known first and takes 1.3 to 2.5 times as long as the best. A file
  /// that marks the default has the same one for all seeds.
  int threads = 1;
  bool automatic = false;       // ends as an automatic budget does, within `budget`
  bool end_at_optimum = false;  // faster; all figures but own_seconds stay the same
  /// A run ends when the recorded costs and the strategy's own time add up to it.
  double seconds = std::numeric_limits<double>::infinity();
};

/// One run per seed, in the order of seeds. `predicted`: in place of those of the space. Throws
/// Error if the space has no valid configuration.
std::vector<ReplayRun> replay(const RecordedSpace& recorded, const ReplayRequest& request,
                              std::span<const double> predicted = {});

/// Predictions of a cost model with this error: the recorded times (for failures, the median) times
/// a lognormal factor. The same in every call.
std::vector<double> simulated_predictions(const RecordedSpace& recorded, double error);

struct Quartiles {
  double low = 0, median = 0, high = 0;
};
/// By linear interpolation; infinities sort last. `values` is not empty.
Quartiles quartiles(std::vector<double> values);

/// Summary of the runs on one space.
struct ReplaySummary {
  std::array<Quartiles, kCheckpoints.size()> at;
  std::array<Quartiles, kMoments.size()> after;  // that many seconds
  Quartiles to_5_percent, to_1_percent;          // evaluations; infinity if a run never reaches it
  double reach_5_percent = 0, reach_1_percent = 0;  // share of runs
  double mean_log_ratio = 0;                        // over runs, at kCheckpoints within the budget
  double own_seconds = 0;                           // per evaluation, median over runs
  Quartiles at_end;                                 // best / optimum
  double mean_evaluations = 0;
};
ReplaySummary summarize(std::span<const ReplayRun> runs);

/// A run is a line: the seed, the search's own time in all in seconds, and the configurations in
/// order, as `16,1,near`: values in the order of the space's parameters.
std::string trace_text(const RecordedSpace& recorded, std::span<const ReplayRun> runs);

/// The runs of such a file, with or without gzip. Throws Error with the file and the line if a
/// configuration is not in the space, or if something else is wrong.
std::vector<ReplayRun> read_trace(const std::filesystem::path& file, const RecordedSpace& recorded);

/// The trials of the search or an import: each configuration once, with its latest result, and the
/// values that occur, in ascending order. Configurations of an earlier manifest, whose parameters
/// differ from the latest, are left out. Device, kernel and sizes stay empty.
RecordedResults recorded_trials(std::vector<db::TrialRow> rows);

// Answers a search from a recorded space, on a clock of its own.

/// A run on a recorded space.
struct RecordedRun {
  std::size_t budget = std::numeric_limits<std::size_t>::max();  // different configurations
  /// When recorded costs and the time since the run began add up to it, the run ends.
  double seconds = std::numeric_limits<double>::infinity();
  int threads = 1;  // of the compiler; 1: a configuration is compiled once the last is measured
  /// Known before the search begins, as the default configuration is. It counts in the budget.
  std::optional<std::size_t> known = {};
  std::span<const double> predicted = {};  // the cost model's times, one per index; or empty
  bool end_at_optimum = false;
  bool automatic = false;  // also ends by the stopping rule of an automatic budget
};

/// Threads that compile in the recorded times, on a clock. As in CompilePool, what is evaluated
/// goes before what is announced, for which a thread is left free.
class SimulatedCompilers {
 public:
  SimulatedCompilers(std::span<const double> compile_seconds, int threads);

  void compile(std::size_t index, bool is_urgent);
  bool is_compiled(std::size_t index) const { return states_[index] == State::compiled; }
  double now() const { return now_; }
  /// Waits for the next compilation to end. One must be running.
  void wait_for_one();
  /// Compiles on until then.
  void pass(double seconds);

 private:
  enum class State : char { unknown, queued, running, compiled };
  struct Running {
    double end;
    std::size_t index;
    bool is_ahead;
    auto operator<=>(const Running&) const = default;
  };

  void begin();

  std::span<const double> compile_seconds_;
  std::size_t threads_;
  double now_ = 0;
  std::vector<State> states_;
  std::deque<std::size_t> urgent_, ahead_;
  std::set<Running> running_;
  std::size_t running_ahead_ = 0;
};

/// Evaluates from a recorded space. Measurements follow one another, while compilers go on; each
/// takes what the recorded evaluation took beside compiling.
class RecordedEvaluator : public Evaluator {
 public:
  RecordedEvaluator(const RecordedSpace& recorded, RecordedRun run);

  const ParameterSpace& space() const override { return recorded_.space; }
  std::vector<Evaluation> evaluate(std::span<const std::size_t> indices) override;
  /// Those whose compilation ended first, in the order of `indices` where several have.
  std::vector<Evaluation> evaluate_some(std::span<const std::size_t> indices,
                                        std::size_t count) override;
  void prefetch(std::span<const std::size_t> indices) override;
  int batch() const override { return run_.threads; }
  std::size_t remaining() const override;
  void expect(double gain) override;
  std::span<const double> predicted() const override { return run_.predicted; }
  std::span<const Evaluation> known() const override { return known_; }

  /// The evaluated configurations, each once, in order, and the seconds at which each was measured.
  std::span<const std::size_t> order() const { return order_; }
  std::span<const double> measured_at() const { return measured_at_; }

 private:
  void measure(std::size_t index);

  const RecordedSpace& recorded_;
  RecordedRun run_;
  std::optional<AutomaticEnd> automatic_end_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  SimulatedCompilers compilers_;
  std::vector<char> asked_;
  std::vector<Evaluation> known_;
  std::vector<std::size_t> order_;
  std::vector<double> measured_at_;
};

// The field's score of a search: how far it is ahead of random search at equal time.

struct WeightedPoint {
  double x = 0, y = 0, weight = 1;
};

/// The package whose method is followed: Willemsen et al., "A Methodology for Comparing Auto-Tuning
/// Optimization Algorithms", Future Generation Computer Systems, 2024.
inline constexpr const char* kScoreMethod = "autotuning_methodology 1.1.0";

/// When searches of one space are compared: from the time at which random search is expected to
/// have gained 1 % of what lies between the median and the optimum, to that of 95 %.
struct ScoreRange {
  std::size_t evaluations = 0;  // of random search, until the end
  double from = 0, to = 0;      // seconds of tuning

  /// When runs may end: as in the package, a tenth later.
  double run_seconds() const { return 1.1 * to; }
};

/// With so many threads that compile; random search has as many. The package knows 1 only. Throws
/// Error if a working configuration has no recorded cost, or if there are so few that random search
/// would reach the optimum within the range.
ScoreRange score_range(const RecordedSpace& recorded, int threads = 1);

/// 0 is random search, 1 the optimum from the start.
struct Score {
  double mean = 0;
  double deviation = 0;  // of the package's scores of the same runs: it resamples at random
};

/// The mean of the package's scores of these runs, the same in every call. `threads`: of the runs.
/// A configuration that was stopped early counts at its lower bound. Throws Error as score_range()
/// does, or if no run has a result by the end of the range.
Score score_of(const RecordedSpace& recorded, std::span<const ReplayRun> runs, int threads = 1);

}  // namespace autotune
