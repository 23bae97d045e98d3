// SPDX-License-Identifier: Apache-2.0
// Where one problem's trials go as they are made, and where those of earlier runs come from.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/trial.hpp"
#include "tuner/session/decision.hpp"

namespace autotune {

/// The rows of one problem of one session. Rows are stored in transactions: with flush(), after a
/// second, or when 64 wait, for a commit waits for the disk. Without a store it keeps nothing and
/// knows nothing.
class Recorder {
 public:
  /// Without `decides`, what is stored as best stays what it is.
  Recorder(db::TunedStore* store, std::string session, db::ProblemKey key, double flops,
           bool decides = true);

  /// Trials of earlier sessions, the latest of each configuration.
  std::vector<Trial> earlier_trials() const;
  /// What is stored as best, by a playoff or a pin.
  std::optional<db::BestRow> earlier_best() const;
  /// Configurations that must not be run again, with the reason.
  std::vector<db::Quarantined> quarantined() const;

  /// About to be sent to the device: if this process dies, the trial is a crash.
  void dispatch(const Configuration& configuration);
  void record(const Trial& trial, bool is_default);
  /// Commits what waits. Throws db::StoreError.
  void flush();
  /// A finalist's figures from the playoff.
  void record_playoff(const Trial& trial, bool is_default);
  /// What was pruned, measured to the end: no trial of the search.
  void record_audit(const Trial& trial);
  /// `binary_key` is of the best one's kernel.
  void decide(const ProblemDecision& decision, const std::string& binary_key);

 private:
  void append(const Trial& trial, bool is_default, const char* stage);

  db::TunedStore* store_;
  std::string session_;
  db::ProblemKey key_;
  double flops_;
  bool decides_;
  std::vector<db::TrialRow> waiting_;
  std::chrono::steady_clock::time_point first_waits_since_;
};

}  // namespace autotune
