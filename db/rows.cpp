// SPDX-License-Identifier: Apache-2.0
#include "db/rows.hpp"

#include "db/facts.hpp"
#include "db/store.hpp"

namespace autotune::db {

StoredPolicy stored_policy(std::string_view policy) {
  constexpr std::string_view kContext = " context=";  // the last part
  const std::size_t context = policy.find(kContext);
  const bool has_context = context != std::string_view::npos;
  return {policy.substr(0, context),
          has_context ? policy.substr(context + kContext.size()) : "chain",
          policy.find("l2=cold") != std::string_view::npos,
          policy.find(" objective=") == std::string_view::npos,
          policy.find("launch=") != std::string_view::npos};
}

void add_counters(TunedStore& store, const CounterRow& row) {
  Connection& connection = store.connection();
  const CounterRow counters = acceptable(connection, row);
  in_transaction(connection, [&] { connection.insert(counters); });
}

std::vector<CounterRow> counters_of(const TunedStore& store, const ProblemKey& key) {
  std::vector<CounterRow> latest;
  guarded(store.path(), [&] {
    each_usable<CounterRow>(
        store.connection(),
        std::string(kAndKey) + " ORDER BY configuration, created_at DESC, id DESC",
        [&](CounterRow&& row) {
          const bool is_new = latest.empty() || latest.back().configuration != row.configuration;
          if (is_new) latest.push_back(std::move(row));
        },
        key.device, key.kernel, key.problem, key.policy);
  });
  return latest;
}

void add_classes(TunedStore& store, const std::vector<ReductionClassRow>& rows) {
  Connection& connection = store.connection();
  std::vector<ReductionClassRow> classes;
  for (const ReductionClassRow& row : rows) classes.push_back(acceptable(connection, row));
  in_transaction(connection, [&] {
    for (const ReductionClassRow& row : classes) connection.insert(row);
  });
}

std::vector<ReductionClassRow> classes_of(const TunedStore& store, const ProblemKey& key) {
  std::vector<ReductionClassRow> classes;
  guarded(store.path(), [&] {
    each_usable<ReductionClassRow>(
        store.connection(),
        std::string(kAndKey) + " ORDER BY configuration, created_at DESC, id DESC",
        [&](ReductionClassRow&& row) { classes.push_back(std::move(row)); }, key);
  });
  return classes;
}

}  // namespace autotune::db
