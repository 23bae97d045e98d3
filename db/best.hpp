// SPDX-License-Identifier: Apache-2.0
// Derives the best of a problem from its facts. Included by db/*.cpp only.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "db/connection.hpp"
#include "db/facts.hpp"

namespace autotune::db {

/// Sorts after every time of day.
inline const std::string kEver = "~";

/// What is wrong with the problem: it does not begin with the sizes that the kernel names.
std::optional<std::string> fault_of_problem(Connection& connection, const ProblemKey& key);

/// Updates the best row of a problem after a row was stored.
void consider(Connection& connection, const TrialRow& trial);
void consider(Connection& connection, const DecisionRow& decision);

/// The best of a problem, from its usable facts: a pin, else the claim that outranks all others.
/// Refutations withdraw claims and pins. Trials of a partial session claim nothing. Claims and pins
/// later than `until` are ignored.
std::optional<BestRow> derive(Connection& connection, const ProblemKey& key,
                              const std::string& until = kEver);
/// The stored row, unchecked; see is_sealed().
std::optional<BestRow> stored_best(Connection& connection, const ProblemKey& key);
/// What a reader gets for a stored row: this row, or nothing if it is damaged. If it is dated after
/// `latest`, which is latest_time(), what was best until then. Connection::left_out names a row
/// that cannot be used.
std::optional<BestRow> usable(Connection& connection, BestRow best, const std::string& latest);
/// How many rows of a device and a kernel the index has, with this policy or with any. A row with a
/// damaged key is missing from the table's own order, but not from the index.
std::int64_t indexed_rows(Connection& connection, const std::string& device,
                          const std::string& kernel, const std::string& policy = "");
/// The latest pin, unless it is empty and takes the earlier one back. It may be refuted.
std::optional<PinRow> pin_of(Connection& connection, const ProblemKey& key,
                             const std::string& until = kEver);
/// Stores the result of derive().
void derive_again(Connection& connection, const ProblemKey& key);
void derive_all_again(Connection& connection);
/// Names in Connection::left_out what of the file's structure and which facts are damaged.
void name_damage(Connection& connection);
/// Every problem that has a trial, decision or pin.
std::vector<ProblemKey> all_keys(Connection& connection);
/// The keys of the same problem, under every policy.
std::vector<ProblemKey> keys_beside(Connection& connection, const ProblemKey& key);
/// The keys whose best rows a retraction of `id` may change: those of the facts that it takes out,
/// and of the same problems under other policies.
std::vector<ProblemKey> keys_of_fact(Connection& connection, const std::string& id);

// Common parts of reading best rows. Included by db/*.cpp only.

/// Calls `use` for each device and kernel that the filter takes.
template <class Use>
void each_pair(const TunedStore& store, const TunedFilter& filter, Use&& use) {
  const std::vector<DeviceRow> devices = store.devices();
  for (const KernelRow& kernel : store.kernels()) {
    if (!filter.target.empty() && kernel.target != filter.target) continue;
    for (const DeviceRow& device : devices) {
      if (filter.device_name.empty() || device.name == filter.device_name) use(device, kernel);
    }
  }
}

/// The order of TunedStore::tuned().
inline bool comes_before(const TunedEntry& a, const TunedEntry& b) {
  const auto order = [](const TunedEntry& entry) {
    const std::string& problem = entry.best.key.problem;
    return std::make_tuple(std::cref(entry.kernel.target), std::cref(entry.device.name),
                           problem.size(), std::cref(problem), std::cref(entry.best.key.policy));
  };
  const auto order_a = order(a), order_b = order(b);
  if (order_a < order_b || order_b < order_a) return order_a < order_b;
  return a.best.created_at > b.best.created_at;
}

}  // namespace autotune::db
