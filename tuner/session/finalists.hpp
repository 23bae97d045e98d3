// SPDX-License-Identifier: Apache-2.0
// The finals of a run: its finalists, with more verification than a trial gets, also on the edge
// problems (with free sizes at their defaults, and away from them), the playoff, and the decision.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/deadline.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/edge_problem.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/measure/playoff.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/session/decision.hpp"
#include "tuner/session/problem_run.hpp"

namespace autotune {

/// Verifying runs of a finalist.
inline constexpr int kFinalistRuns = 3;

/// Only units() is thread-safe. The first verify() allocates the buffers of the edge problems.
class EdgeCheck {
 public:
  /// All arguments must outlive it.
  EdgeCheck(const Target& target, const Problem& problem, Device& device);
  /// The same on these problems.
  EdgeCheck(const Target& target, EdgeProblems problems, Device& device);

  const EdgeProblems& problems() const { return problems_; }

  /// What to compile for verify(): a unit for each problem on which it verifies.
  std::vector<SourceUnit> units(const Configuration& configuration) const;

  /// Returns a compiled unit; nullptr to leave that edge problem out.
  using Compile = std::function<std::shared_ptr<const CompiledKernel>(SourceUnit)>;
  enum class Extent { first, all };
  /// Verifies a configuration on the usual edge problems for which it is valid, or on the first of
  /// them; if there are none, on the first longer one. In so many runs, until it fails. A failure's
  /// message names the problem. What was right there is not run again, unless in several runs.
  /// Throws Error if the buffers or the reference fail.
  Verdict verify(const Configuration& configuration, const Compile& compile, int runs = 1,
                 Extent extent = Extent::all);

 private:
  struct Place {
    Problem problem;
    std::optional<TargetProgram> program;
    std::unique_ptr<Workbench> workbench;
    std::set<Levels> right;

    bool takes(const Target& target, const Configuration& configuration) const;
  };
  SourceUnit unit_of(const Place& place, const Levels& levels) const;
  bool is_final(const Verdict& verdict) const;
  std::vector<Place*> places_of(const Configuration& configuration) const;
  Verdict verify_at(Place& place, const Configuration& configuration, const CompiledKernel& kernel,
                    int runs);
  Workbench& workbench(Place& place);

  const Target& target_;
  Device& device_;
  const EdgeProblems problems_;
  std::vector<std::unique_ptr<Place>> places_;  // the usual ones first
};

/// nullopt if the device cannot run kernels, or a configuration need not be right there. So many
/// threads compile.
std::vector<std::optional<Verdict>> verdicts_at_edge(const Target& target, const Problem& problem,
                                                     std::span<const Configuration> configurations,
                                                     Device& device, int threads);

/// The message for a target whose default configuration fails on the edge problem.
std::string edge_complaint(const Target& target, const Verdict& verdict);

/// A verified finalist, loaded on the run's workbench.
struct LoadedFinalist {
  std::size_t index = 0;  // in the space
  std::unique_ptr<Candidate> candidate;
  bool repeats = true;  // its runs gave the same bits
};

/// The fastest trials, the default configuration, and what programs get today.
class Finalists {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// All arguments must outlive it. `given` is the index of what programs get.
  Finalists(ProblemRun& run, EdgeCheck& edge, std::optional<std::size_t> given, Warn warn);

  /// Chooses the finalists and verifies them: once on the edge problem, and in three runs. Failures
  /// are refuted, and the next fastest trials take their place. After the deadline only the fastest
  /// and the holder are verified, and only if they are compiled within a moment.
  void verify(const Policy& policy, const Deadline& deadline);
  /// Excludes a finalist that failed, in whatever phase. Its trial becomes a failure, which is
  /// stored.
  void refute(std::size_t index, const Verdict& verdict);
  /// Refutes finalists that failed in a playoff; returns whether none did. `results` begins with
  /// theirs, in the order of all().
  bool refute_failed(std::span<const FinalistResult> results);
  /// Verifies every finalist again after its many calls. Refutes those that are wrong; returns
  /// whether none was.
  bool recheck();
  /// Loads each on a new workbench. A finalist that cannot be loaded fails when it is timed.
  void reload();

  std::span<const LoadedFinalist> all() const { return loaded_; }
  /// Whether they include the fastest trial that is not refuted.
  bool hold_the_fastest() const;
  /// What stays unless another is clearly faster: what programs get, else the default
  /// configuration. nullopt if both failed.
  std::optional<std::size_t> holder() const;
  bool holds(std::size_t index) const;
  /// The arguments of play_off().
  std::vector<Finalist> entries() const;

 private:
  std::vector<std::size_t> chosen(const Policy& policy) const;
  std::vector<CompileRequests::Result> compile(std::size_t index);
  bool verify(std::size_t index);
  Verdict verify_at_edge(std::size_t index);
  Verdict verify_repeatedly(LoadedFinalist& finalist);

  ProblemRun& run_;
  EdgeCheck& edge_;
  const std::optional<std::size_t> given_;
  const Warn warn_;
  std::vector<LoadedFinalist> loaded_;
};

// The finals of a problem: verification of the finalists, the playoff, the decision, and how they
// are shortened near the deadline.

/// Duration of decide().
struct FinalsSeconds {
  double least = 0;  // with two finalists and the fewest blocks that may replace one
  double usual = 0;
};

/// Estimated from the trials of the run.
FinalsSeconds finals_seconds(const ProblemRun& run);

/// Results come in the order of the finalists, then of the baselines. Half-way all are loaded on
/// new buffers, if there is time. No block begins after the deadline, except as OutOfTime says. A
/// finalist with a time below the bench's time_floor() has failed.
PlayoffResult play_off(ProblemRun& run, Finalists& finalists,
                       std::vector<BaselineCandidate>& baselines, const Policy& policy,
                       const Deadline& deadline, std::uint64_t seed);

/// Verifies the finalists, runs the playoff, and records figures and decision. A finalist that
/// fails in any phase is refuted, and the decision is made again among the others. The result has
/// no best if no configuration is correct. Near the deadline, fewer finalists take part for a
/// shorter time. If there is no time to compare the fastest with the holder and the libraries, the
/// result has no best but says so (`undone`). Throws NotCompiled if a finalist's kernel is missing.
ProblemDecision decide(ProblemRun& run, EdgeCheck& edge, const Deadline& deadline,
                       std::uint64_t seed,
                       const std::function<void(const std::string&)>& warn = {});

/// A decision without a playoff: the fastest trial of the search. It is not recorded.
ProblemDecision undecided(const ProblemRun& run);

/// The decision on a device that cannot run: the compiled configuration with the least predicted
/// time. It is recorded as predicted.
ProblemDecision decide_by_prediction(const ProblemRun& run);

/// The stored decision, if every trial was already in the store and the decision too.
std::optional<ProblemDecision> stored_decision(const ProblemRun& run);

// Objectives other than time: the energy of the finalists, and the choice by it.

/// One for each finalist, in their order; none if the objective is time, or if it was not measured.
using Energies = std::vector<std::optional<Energy>>;

/// Measures each finalist that is left, in a sustained run of its own. After the deadline, only two
/// are measured. If one of them fails, it is refuted and the result is nullopt.
std::optional<Energies> measured_energies(const Policy& policy, Finalists& finalists,
                                          const PlayoffResult& result, const Deadline& deadline);

/// Makes the finalist with the least energy, or least product of energy and time, the winner, and
/// notes which others tie. What programs get (else the default) stays unless it has more by
/// over the policy's replace_margin, and by more than the resolution of the two can hide. Changes
/// nothing if the objective is time.
void decide_by_energy(const Policy& policy, const Finalists& finalists, const Energies& energies,
                      PlayoffResult& result);

/// The Pareto front of time and energy, fastest first.
std::vector<Tuned> pareto_front(std::vector<Tuned> all);

}  // namespace autotune
