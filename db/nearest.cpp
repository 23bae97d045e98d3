// SPDX-License-Identifier: Apache-2.0
// The tuned problems nearest to given sizes.
#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "db/best.hpp"
#include "db/problem_text.hpp"
#include "db/tuned.hpp"

namespace autotune::db {
namespace {

/// Of a device, settings and a policy: the least distance, then the shortest text counts.
struct Near {
  double distance = 0;
  std::string problem;
  bool operator<(const Near& other) const {
    return std::make_tuple(distance, problem.size(), std::cref(problem)) <
           std::make_tuple(other.distance, other.problem.size(), std::cref(other.problem));
  }
};

using NearestOfEach = std::map<std::tuple<std::string, std::string, std::string>, Near>;

/// Reads an index of keys only.
void offer_all(Connection& connection, const DeviceRow& device, const KernelRow& kernel,
               const TunedFilter& filter, const std::vector<std::int64_t>& asked,
               NearestOfEach& nearest) {
  Query query = connection.query(
      "SELECT policy, settings, problem FROM best WHERE device = ? AND kernel = ?");
  query.bind(device.id, kernel.id);
  std::vector<std::int64_t> sizes(asked.size());
  while (query.step()) {
    if (!filter.policy.empty() && query.view(0) != filter.policy) continue;
    std::string_view rest = query.view(2);
    if (!take_sizes(rest, kernel.sizes, sizes)) continue;
    const Near near{size_distance(sizes, asked), query.text(2)};
    const auto [found, is_new] =
        nearest.try_emplace({device.id, query.text(1), query.text(0)}, near);
    if (!is_new) found->second = std::min(found->second, near);
  }
}

}  // namespace

std::vector<NearEntry> TunedStore::nearest(const TunedFilter& filter,
                                           const std::string& sizes) const {
  return guarded(path(), [&] {
    NearestOfEach nearest;
    each_pair(*this, filter, [&](const DeviceRow& device, const KernelRow& kernel) {
      std::vector<std::int64_t> asked(size_count_of(kernel.sizes));
      std::string_view rest = sizes;
      if (!take_sizes(rest, kernel.sizes, asked) || !rest.empty()) return;
      offer_all(*connection_, device, kernel, filter, asked, nearest);
    });
    std::vector<NearEntry> entries;
    for (const auto& [place, near] : nearest) {
      const auto& [device, settings, policy] = place;
      for (TunedEntry& entry :
           tuned({filter.device_name, filter.target, near.problem, policy, ""})) {
        if (entry.device.id != device) continue;
        entries.push_back({std::move(entry), near.distance});
        break;  // the latest
      }
    }
    std::ranges::sort(entries, comes_before, &NearEntry::entry);
    return entries;
  });
}

}  // namespace autotune::db
