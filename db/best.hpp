// SPDX-License-Identifier: Apache-2.0
// The best of a problem, from its facts. Included by db/*.cpp only.
#pragma once

#include "db/claim.hpp"

namespace autotune::db {

/// Why the problem is none of its kernel's: it does not begin with the sizes that the kernel names.
std::optional<std::string> fault_of_problem(Connection& connection, const ProblemKey& key);

/// Updates the best row of a problem for a row that was just stored.
void consider(Connection& connection, const TrialRow& trial);
void consider(Connection& connection, const DecisionRow& decision);

/// The best of a problem from those of its facts that may be used: a pin, else the claim that
/// outranks all others of those that are not refuted. A claim is refuted by a trial of its
/// configuration that failed after it. The trials of a partial session claim nothing.
std::optional<BestRow> derive(Connection& connection, const ProblemKey& key);
/// As it stands there; see is_sealed().
std::optional<BestRow> stored_best(Connection& connection, const ProblemKey& key);
/// Whether it is what was stored and can be read; else it is named in Connection::left_out.
bool is_usable(Connection& connection, const BestRow& best);
/// How many rows of a device and a kernel the index knows, with this policy or with any. A row
/// whose key is damaged is in the table's own order no more, but there.
std::int64_t indexed_rows(Connection& connection, const std::string& device,
                          const std::string& kernel, const std::string& policy = "");
/// Stores what derive() says.
void derive_again(Connection& connection, const ProblemKey& key);
void derive_all_again(Connection& connection);
/// Names in Connection::left_out what of the file's structure and which facts are damaged.
void name_damage(Connection& connection);
/// Every problem that has a trial, decision or pin.
std::vector<ProblemKey> all_keys(Connection& connection);
/// Those of the facts that a retraction of `id` takes out.
std::vector<ProblemKey> keys_of_fact(Connection& connection, const std::string& id);

}  // namespace autotune::db
