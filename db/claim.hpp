// SPDX-License-Identifier: Apache-2.0
// What a fact claims to be the best of its problem, and which of two claims counts. Included by
// db/*.cpp only.
#pragma once

#include "db/connection.hpp"

namespace autotune::db {

/// nullopt when the trial cannot lead: it failed, or nobody has checked its result.
std::optional<BestRow> claim_of(const TrialRow& trial, const SessionRow& session);
BestRow claim_of(const DecisionRow& decision, const SessionRow& session);

/// The pinned configuration, with the figures of the best claim for it if it was ever tried, and
/// beside the default of the problem's best.
BestRow pinned_row(const PinRow& pin, const std::optional<BestRow>& tried,
                   const std::optional<BestRow>& best);

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

/// As it is stored, with both checks.
BestRow sealed(BestRow row);
/// Whether it is what was stored.
bool is_sealed(const BestRow& row);

}  // namespace autotune::db
