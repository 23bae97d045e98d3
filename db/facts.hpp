// SPDX-License-Identifier: Apache-2.0
// Usable facts: they match their id, can be read, and are not retracted. Included by db/*.cpp only.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "db/connection.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {

/// UTC, `2026-03-01T12:00:00.000000Z`; sorts by time.
std::string time_text(std::chrono::system_clock::time_point time);

inline constexpr const char* kAndKey =
    " AND device = ? AND kernel = ? AND problem = ? AND policy = ?";

inline const std::string kNotAsStored = "it is not what was stored";

/// The text in quotes, shortened; any bytes are allowed.
std::string excerpt(std::string_view text);

/// Whether the text is `NAME=VALUE NAME=VALUE …` and printable. The empty text is.
bool is_named_values(std::string_view text);

/// What is wrong with this column's text: `the configuration "banana" is not of the form …`.
std::optional<std::string> fault_of_text(std::string_view column, std::string_view text);

/// The same for a time of day: it is more than a day ahead of this machine's clock.
std::optional<std::string> fault_of_date(std::string_view column, std::string_view text);

/// A later time of day is ahead of this machine's clock, by more than clocks of machines differ.
std::string latest_time();

/// The same for a number: it is negative, not finite, or too large for anything that is measured;
/// or it is a time of 0.
std::optional<std::string> fault_of_number(std::string_view column, double number);

/// The result of `fault` for the first of the row's texts that has one.
template <class Row, class Fault>
std::optional<std::string> fault_of_texts(const Row& row, Fault&& fault) {
  std::optional<std::string> found;
  Table<Row>::columns(row, [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string>) {
      if (!found) found = fault(name, value);
    }
  });
  return found;
}

/// Why no reader can use the row.
template <class Row>
std::optional<std::string> malformed(const Row& row) {
  std::optional<std::string> found = fault_of_texts(row, fault_of_text);
  Table<Row>::columns(row, [&](const char* name, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, std::optional<double>>) {
      if (!found && value) found = fault_of_number(name, *value);
    }
  });
  if constexpr (requires { row.low_ns; }) {
    if (!found && row.low_ns && row.high_ns && *row.low_ns > *row.high_ns) {
      found = format("its time lies between {} and {} ns", *row.low_ns, *row.high_ns);
    }
  }
  return found;
}

/// Why the row cannot be stored: malformed, or dated ahead.
template <class Row>
std::optional<std::string> unacceptable(const Row& row) {
  if (auto fault = malformed(row)) return fault;
  return fault_of_texts(row, fault_of_date);
}

/// The row as it is stored. Throws StoreError if it is unacceptable().
template <class Row>
Row acceptable(const Connection& connection, const Row& row) {
  Row clean = cleaned(row);
  if (const auto fault = unacceptable(clean)) {
    throw StoreError(
        format("{}: a {} is not stored: {}", connection.path.string(), Table<Row>::name, *fault));
  }
  return clean;
}

/// Whether the fact matches its id.
template <class Row>
bool is_whole(const Row& row) {
  return row_id(to_json(row)) == row.id;
}

/// `NOT EXISTS (…)`: the fact, its session, its device and its kernel are not retracted.
template <class Row>
std::string live_sql() {
  const std::string table = std::string(Table<Row>::name) + '.';
  std::string ids = table + "id";
  const Row row{};
  Table<Row>::columns(row, [&](std::string_view name, const auto&) {
    const bool refers = name == "session" || name == "device" || name == "kernel";
    if (refers) ids += ", " + table + std::string(name);
  });
  return "NOT EXISTS (SELECT 1 FROM retraction WHERE fact IN (" + ids + "))";
}

/// Whether a retraction names this fact.
bool is_retracted(Connection& connection, const std::string& id);

/// Whether a stored fact, and everything that it refers to, is not retracted.
template <class Fact>
bool is_live(Connection& connection, const Fact& fact) {
  static const std::string kSql =
      "SELECT 1 FROM " + std::string(Table<Fact>::name) + " WHERE id = ? AND " + live_sql<Fact>();
  Query query = connection.query(kSql);
  return query.bind(fact.id).step();
}

/// Calls `use` with each usable fact for which `condition` holds. Unusable facts are named in
/// Connection::left_out, unless they are retracted.
template <class Row, class Use, class... Bound>
void each_usable(Connection& connection, const std::string& condition, Use&& use,
                 const Bound&... bound) {
  static const std::string kSql = select_sql<Row>(" WHERE " + live_sql<Row>());
  Query query = connection.query(kSql + condition);
  query.bind(bound...);
  while (query.step()) {
    Row row = read_row<Row>(query);
    if (!is_whole(row)) {
      connection.leave_out(Table<Row>::name, row.id, kNotAsStored);
    } else if (const auto fault = malformed(row)) {
      connection.leave_out(Table<Row>::name, row.id, *fault);
    } else {
      use(std::move(row));
    }
  }
}

// Claims: what a fact says is the best of its problem, which of two claims counts, and what refutes
// an answer. The best rows, past times, lookups and lists of trials all ask here. Included by
// db/*.cpp only.

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
/// None of its times has a fault_of_number(), nor does a library win without a time.
bool has_possible_times(const BestView& row);

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
