// SPDX-License-Identifier: Apache-2.0
// Answers a search from a recorded space, on a clock of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "tuner/replay/replay.hpp"
#include "tuner/search/strategy.hpp"

namespace autotune {

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

}  // namespace autotune
