// SPDX-License-Identifier: Apache-2.0
// How good a strategy is: run on a recorded space, many seeds, no GPU.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/replay/recorded_space.hpp"
#include "tuner/search/strategy.hpp"

namespace autotune {

/// Answers from a recorded space until `budget` different configurations were asked for. In
/// batches, as many compilers as a batch has places take up what is asked for or announced, in that
/// order, for the time that the space says; what is compiled first is answered first.
class RecordedEvaluator : public Evaluator {
 public:
  /// `predicted` (one an index, or empty) is what the strategy is told the cost model says.
  RecordedEvaluator(const RecordedSpace& recorded, std::size_t budget, int batch = 1,
                    std::span<const double> predicted = {}, bool end_at_optimum = false);

  const ParameterSpace& space() const override { return recorded_.space; }
  std::vector<Evaluation> evaluate(std::span<const std::size_t> indices) override;
  std::vector<Evaluation> evaluate_some(std::span<const std::size_t> indices,
                                        std::size_t count) override;
  void prefetch(std::span<const std::size_t> indices) override;
  int batch() const override { return batch_; }
  std::size_t remaining() const override { return budget_ - order_.size(); }
  std::span<const double> predicted() const override { return predicted_; }

  /// What was asked for, each once, in that order.
  std::span<const std::size_t> order() const { return order_; }

 private:
  const RecordedSpace& recorded_;
  std::size_t budget_;
  int batch_;
  std::span<const double> predicted_;
  double end_at_;  // seconds
  std::vector<char> asked_;
  std::vector<std::size_t> order_;
  double now_ = 0;                   // on the clock of the compilers
  std::vector<double> idle_from_;    // of each compiler, in seconds
  std::vector<double> compiled_at_;  // of each index; infinity before it is asked for
};

/// The evaluations at which a run's best time is noted.
inline constexpr std::array<std::size_t, 5> kCheckpoints = {10, 20, 50, 100, 200};

struct ReplayRun {
  std::uint64_t seed = 0;
  std::vector<double> ratios;  // best so far / optimum after each evaluation; infinity before any
  double own_seconds = 0;      // the strategy's, an evaluation

  /// After so many evaluations, or the last when the run was shorter.
  double ratio_at(std::size_t evaluations) const;
  /// The evaluation, from 1, whose best is within `share` of the optimum; nullopt when none is.
  std::optional<std::size_t> evaluations_to(double share) const;
};

struct ReplayRequest {
  std::string strategy = "guided";
  std::size_t budget = 200;
  int seeds = 40;  // 1 .. seeds
  int batch = 1;
  bool end_at_optimum = false;  // the same figures, but for own_seconds, in less time
};

/// One run a seed, in the order of seeds. Throws Error when the space has no valid configuration.
std::vector<ReplayRun> replay(const RecordedSpace& recorded, const ReplayRequest& request,
                              std::span<const double> predicted = {});

/// What a cost model would say that is wrong by `error`: the recorded times (the median for a
/// failure) times a lognormal factor, the same in every call.
std::vector<double> simulated_predictions(const RecordedSpace& recorded, double error);

struct Quartiles {
  double low = 0, median = 0, high = 0;
};
/// By linear interpolation; infinities sort last. `values` is not empty.
Quartiles quartiles(std::vector<double> values);

/// What is reported of the runs on one space.
struct ReplaySummary {
  std::array<Quartiles, kCheckpoints.size()> at;
  Quartiles to_5_percent, to_1_percent;  // evaluations; infinity where runs end short of it
  double reach_5_percent = 0, reach_1_percent = 0;  // share of runs
  double mean_log_ratio = 0;                        // over runs, at kCheckpoints up to the budget
  double own_seconds = 0;                           // median over runs, an evaluation
};
ReplaySummary summarize(std::span<const ReplayRun> runs);

}  // namespace autotune
