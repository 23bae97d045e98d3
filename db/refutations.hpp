// SPDX-License-Identifier: Apache-2.0
// What refutes an answer. The best rows, past times, lookups and lists of trials all ask here.
// Included by db/*.cpp only.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "db/connection.hpp"

namespace autotune::db {

/// SQL's condition for a trial that failed, as in the index trial_failed.
inline constexpr const char* kFailed = " AND outcome NOT IN ('ok', 'pruned')";

/// The same of one problem: bind device, kernel and problem.
inline constexpr const char* kFailedThere =
    " AND device = ? AND kernel = ? AND problem = ? AND outcome NOT IN ('ok', 'pruned')";

/// Whether the trial refutes its configuration.
bool is_failure(const TrialRow& trial);

/// When configurations failed last at problems of one device and one kernel, whatever the policy. A
/// damaged row counts, because it can only take an answer away. Failures that other tuners recorded
/// refute only what the same tuner recorded.
class Refutations {
 public:
  Refutations() = default;
  /// Of one problem, under all policies.
  Refutations(Connection& connection, const ProblemKey& key);
  /// Of all problems.
  Refutations(Connection& connection, const std::string& device, const std::string& kernel);

  /// Whether the configuration failed at this problem, and no earlier than `since`, the time of
  /// the result that speaks for it. A later result counts again.
  bool refute(std::string_view problem, std::string_view policy, std::string_view configuration,
              std::string_view since) const;
  bool refute(const BestRow& best) const;
  /// Without ties and a default configuration that failed since.
  BestRow without_refuted(BestRow best) const;

  void add(const Refutations& others);
  bool empty() const { return failures_.empty(); }

  /// The last failure of each configuration, by the configuration and, if another tuner recorded
  /// it, the policy.
  using Failures = std::map<std::string, std::string, std::less<>>;
  /// By problem.
  const std::map<std::string, Failures, std::less<>>& failures() const { return failures_; }

 private:
  void read(Query& query);

  std::map<std::string, Failures, std::less<>> failures_;
};

}  // namespace autotune::db
