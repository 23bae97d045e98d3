// SPDX-License-Identifier: Apache-2.0
#include "db/rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

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

std::optional<std::size_t> take_sizes(std::string_view& problem, std::string_view names,
                                      std::span<std::int64_t> sizes) {
  std::string_view rest = problem;
  std::size_t count = 0;
  for (; !names.empty(); ++count) {
    const std::string_view name = names.substr(0, names.find(' '));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    if (count == sizes.size() || !rest.starts_with(name)) return std::nullopt;
    rest.remove_prefix(name.size());
    if (!rest.starts_with('=')) return std::nullopt;
    const char* const end = rest.data() + rest.size();
    const auto [stop, error] = std::from_chars(rest.data() + 1, end, sizes[count]);
    const bool whole = error == std::errc() && (stop == end || *stop == ' ');
    if (!whole || sizes[count] <= 0) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()) + (stop != end));
  }
  problem = rest;
  return count;
}

std::size_t size_count_of(std::string_view names) {
  return names.empty() ? 0 : static_cast<std::size_t>(std::ranges::count(names, ' ') + 1);
}

bool take_sizes(std::string_view& problem, std::string_view names) {
  std::vector<std::int64_t> sizes(size_count_of(names));
  return take_sizes(problem, names, sizes).has_value();
}

double size_distance(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double log = std::log2(static_cast<double>(a[i]) / static_cast<double>(b[i]));
    sum += log * log;
  }
  return a.empty() ? 0 : std::sqrt(sum / static_cast<double>(a.size()));
}

}  // namespace autotune::db
