// SPDX-License-Identifier: Apache-2.0
// Stores the trials of one problem, and reads those of earlier runs.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/trial.hpp"
#include "tuner/session/decision.hpp"

namespace autotune {

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

  /// Call before a configuration goes to the device. If this process dies, the configuration
  /// becomes a crash.
  void dispatch(const Configuration& configuration);
  void record(const Trial& trial, bool is_default);
  /// Commits waiting rows. Throws db::StoreError.
  void flush();
  /// A finalist's figures from the playoff.
  void record_playoff(const Trial& trial, bool is_default);
  /// `binary_key` belongs to the best configuration's kernel. `policy` replaces that of the key.
  void decide(const ProblemDecision& decision, const std::string& binary_key,
              const std::string& policy = "");

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
