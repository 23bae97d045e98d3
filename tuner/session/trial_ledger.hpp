// SPDX-License-Identifier: Apache-2.0
// The trials of one problem, of earlier runs and of this one, and the fastest. A trial is stored
// before the strategy receives it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/parameter_space.hpp"
#include "tuner/core/problem.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/trial.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/decision.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {

/// The ids of a session's rows; empty without a store.
struct SessionRows {
  std::string session, device, kernel;
};

/// Turns what killed processes left behind into trials, then stores the session, its device and its
/// kernel. `store` may be null. A session has times of one device.
SessionRows begin_session(db::TunedStore* store, const Target& target, const Device& device,
                          const TuningRequest& request);

/// The rows of one problem of one session. Rows are committed by flush(), after a second, or when
/// 64 wait, because a commit waits for the disk. Without a store, nothing is stored or read.
class Recorder {
 public:
  /// Without `decides`, the stored best does not change.
  Recorder(db::TunedStore* store, std::string session, db::ProblemKey key, double flops,
           bool decides = true);

  /// Of one call.
  double flops() const { return flops_; }
  /// Trials of earlier sessions, the latest for each configuration, in the order in which these
  /// were first tried. A failure counts whatever its policy and stage.
  std::vector<Trial> earlier_trials() const;
  /// The stored best, from a playoff or a pin.
  std::optional<db::BestRow> earlier_best() const;
  /// The hash of the space that was searched for it; empty if it is not known.
  std::string space_of(const db::BestRow& best) const;
  /// Quarantined configurations with the reason.
  std::vector<db::Quarantined> quarantined() const;

  /// `playoff`: of a finalist, with its figures from there.
  enum class Stage : std::uint8_t { search, playoff };
  void record(const Trial& trial, bool is_default, Stage stage = Stage::search);
  /// Commits waiting rows. Throws db::StoreError.
  void flush();
  /// `binary_key` belongs to the best configuration's kernel. `policy` replaces that of the key.
  void decide(const ProblemDecision& decision, const std::string& binary_key,
              const std::string& policy = "");

 private:
  db::TunedStore* store_;
  std::string session_;
  db::ProblemKey key_;
  double flops_;
  bool decides_;
  std::vector<db::TrialRow> waiting_;
  std::chrono::steady_clock::time_point first_waits_since_;
};

/// Indices are those of the space. For one thread, except best_seconds().
class TrialLedger {
 public:
  /// All must outlive it. `predicted` is empty or has a time for every index. With `retune`, only
  /// the quarantine of earlier runs counts.
  TrialLedger(const ParameterSpace& space, std::size_t default_index,
              std::span<const double> predicted, Recorder& recorder, bool retune);

  /// Whether it has a trial, or take_over() would give it one.
  bool knows(std::size_t index) const;
  /// Takes over what earlier runs left of a configuration; false if they left nothing.
  bool take_over(std::size_t index);
  /// Takes over every trial of earlier runs, so that a search continues from all that is known.
  void take_over_all();

  /// Adds a trial that was made now, and records it unless it was the machine that failed.
  void add(std::size_t index, Trial trial);
  /// Turns a trial into a failure, such as that of a finalist that proves wrong.
  void refute(std::size_t index, Outcome outcome, const std::string& why);
  /// Commits what was added. Throws db::StoreError.
  void flush() { recorder_.flush(); }
  /// Sets a callback after each trial that was added or taken over. It gets the trial's index.
  void on_trial(std::function<void(std::size_t)> listener) { on_trial_ = std::move(listener); }

  const std::map<std::size_t, Trial>& trials() const { return trials_; }
  bool contains(std::size_t index) const { return trials_.contains(index); }
  /// Whether its trial ran to the end, so that its time may be compared with others.
  bool is_timed(std::size_t index) const;
  /// Whether it is timed and at most `margin` slower than the fastest.
  bool is_within(double margin, std::size_t index) const;
  /// Of a trial.
  Evaluation evaluation(std::size_t index) const;
  /// One for each trial, in the order in which they came.
  std::span<const Evaluation> evaluations() const { return evaluations_; }
  /// Of the timed trials.
  std::optional<std::size_t> fastest() const { return fastest_; }
  /// The time of the fastest; 0 if there is none. For any thread.
  double best_seconds() const { return best_seconds_; }
  int taken_over() const { return taken_over_; }
  /// Trials that this run made on a disturbed device.
  int disturbed() const { return disturbed_; }
  /// Trials not run, because the configuration had crashed or timed out twice.
  int quarantined() const { return quarantined_; }

 private:
  void read_earlier(bool retune);
  void forget_open_bounds();
  const Trial& enter(std::size_t index, Trial trial);
  void announce(std::size_t index);
  void lead_with(std::size_t index);

  const ParameterSpace& space_;
  const std::size_t default_index_;
  const std::span<const double> predicted_;
  Recorder& recorder_;
  std::function<void(std::size_t)> on_trial_;
  std::map<std::size_t, Trial> earlier_;
  std::vector<std::size_t> earlier_order_;  // of time
  std::unordered_map<std::size_t, db::Quarantined> quarantine_;
  std::map<std::size_t, Trial> trials_;
  std::vector<Evaluation> evaluations_;
  std::optional<std::size_t> fastest_;
  std::atomic<double> best_seconds_ = 0;
  int taken_over_ = 0;
  int disturbed_ = 0;
  int quarantined_ = 0;
};

// What the database has of other devices: configurations that a search tries first on this one.

/// A configuration of this device's space that is among the fastest on another device.
struct FoundElsewhere {
  std::size_t index = 0;
  std::string device;  // its name
};

/// At most this many are tried first.
inline constexpr std::size_t kMostFoundElsewhere = 8;

/// The winners of the nearest tuned problem on each other device of the same kind, then their
/// runners-up. Problems count if they have the same settings and policy, and sizes that differ by a
/// factor of two at most. Configurations that are not in the space are left out. `here` is the key
/// of the problem on this device. Throws db::StoreError.
std::vector<FoundElsewhere> found_elsewhere(const db::TunedStore& store, const Target& target,
                                            const Problem& problem, const db::ProblemKey& here,
                                            DeviceKind kind, const ParameterSpace& space);

/// The problems that found_elsewhere() looks at: what it needs to know of the database.
std::vector<db::ProblemKey> problems_elsewhere(const db::TunedStore& store, const Target& target,
                                               const Problem& problem, const db::ProblemKey& here,
                                               DeviceKind kind);

}  // namespace autotune
