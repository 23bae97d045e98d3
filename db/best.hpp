// SPDX-License-Identifier: Apache-2.0
// Which of several claims to be the best of a problem counts. Included by db/*.cpp only.
#pragma once

#include "db/connection.hpp"

namespace autotune::db {

/// A total order, so that neither the order of insertion nor that of merging matters: pinned before
/// measured, imported, predicted; what a session decided before the leader of an unfinished one;
/// then the latest decision, or the latest session and in it the shortest time. Times of different
/// sessions are never compared.
bool outranks(const BestRow& a, const BestRow& b);

/// What a lookup uses of a best row.
struct BestView {
  std::string_view problem, policy, configuration, provenance, default_configuration;
  double median_ns = -1, default_ns = -1;  // -1 when absent
  std::string_view baseline = {}, candidate = {};
  double baseline_ns = -1;
  bool baseline_wins = false;
};
std::int64_t best_crc(const BestView& row);

/// Updates the best row of a problem for a row that was just stored.
void consider(Connection& connection, const TrialRow& trial);
void consider(Connection& connection, const DecisionRow& decision);

/// The best of a problem from its facts alone.
std::optional<BestRow> derive(Connection& connection, const ProblemKey& key);
std::optional<BestRow> stored_best(Connection& connection, const ProblemKey& key);
/// Stores what derive() says.
void derive_again(Connection& connection, const ProblemKey& key);
/// Every problem that has a trial, decision or pin.
std::vector<ProblemKey> all_keys(Connection& connection);

}  // namespace autotune::db
