// SPDX-License-Identifier: Apache-2.0
// Claims: what a fact says is the best of its problem, which of two claims counts, and what refutes
// an answer. The best rows, past times, lookups and lists of trials all ask here. Included by
// db/*.cpp only.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "db/connection.hpp"

namespace autotune::db {

/// nullopt if the trial cannot lead: it failed, or its result was not verified.
std::optional<BestRow> claim_of(const TrialRow& trial, const SessionRow& session);
BestRow claim_of(const DecisionRow& decision, const SessionRow& session);

/// The pinned configuration, with the figures of its best claim (if it was ever tried) and the
/// default configuration of the problem's best.
BestRow pinned_row(const PinRow& pin, const std::optional<BestRow>& tried,
                   const std::optional<BestRow>& best);

/// A total order, so that the order of insertion or merging does not matter. Compared in turn:
/// pinned before measured and in use, imported, first use, predicted; decisions before leaders of
/// unfinished sessions; then the latest decision. Among leaders, the latest session counts, and
/// within it the shortest time. Times of different sessions are never compared.
bool outranks(const BestRow& a, const BestRow& b);

/// The columns of a best row that a lookup uses.
struct BestView {
  std::string_view problem, policy, configuration, provenance, default_configuration;
  double median_ns = -1, default_ns = -1;  // -1: absent
  std::string_view baseline = {}, candidate = {};
  double baseline_ns = -1;
  bool baseline_wins = false;
};
BestView view_of(const BestRow& row);
std::int64_t best_crc(const BestView& row);

/// The row with both hashes set.
BestRow sealed(BestRow row);
/// Whether the row matches its hashes.
bool is_sealed(const BestRow& row);

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
