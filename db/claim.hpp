// SPDX-License-Identifier: Apache-2.0
// Claims: what a fact says is the best of its problem, and which of two claims counts. Included by
// db/*.cpp only.
#pragma once

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

}  // namespace autotune::db
