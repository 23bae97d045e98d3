// SPDX-License-Identifier: Apache-2.0
// The tuned problems nearest to given sizes.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <tuple>

#include "db/best.hpp"
#include "db/problem_text.hpp"
#include "db/tuned.hpp"

namespace autotune::db {
namespace {

/// Of the problems offered, the one nearest to given sizes, for each device, settings and policy.
class NearestOfEach {
 public:
  struct Near {
    std::string device, settings, policy, problem;
    double distance = 0;
  };

  explicit NearestOfEach(const std::string& sizes) : text_(sizes) {}

  /// Sets the names of the sizes of the following problems: `M N K`. False if the requested sizes
  /// have other names.
  bool expect(const std::string& names) {
    std::istringstream words(names);
    names_.assign(std::istream_iterator<std::string>(words), {});
    asked_.resize(names_.size());
    sizes_.resize(names_.size());
    std::string_view rest = text_;
    return take_sizes(rest, names, asked_) && rest.empty();
  }

  Near& group_of(const std::string& device, std::string_view settings, std::string_view policy) {
    const auto is_it = [&](const Near& near) {
      return near.settings == settings && near.policy == policy && near.device == device;
    };
    const auto found = std::ranges::find_if(groups_, is_it);
    if (found != groups_.end()) return *found;
    groups_.push_back({device, std::string(settings), std::string(policy), "", 0});
    return groups_.back();
  }

  /// Keeps the problem if it is nearer than the group's. Returns the part of its text, from its
  /// beginning, that alone is too far, such as `M=16` or `M=1024 N=16`; empty if there is none.
  std::string_view offer(Near& group, std::string_view problem) {
    std::string_view rest = problem;
    double sum = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!take_sizes(rest, names_[i], {&sizes_[i], 1})) return {};
      const double log = std::log2(static_cast<double>(sizes_[i]) / static_cast<double>(asked_[i]));
      sum += log * log;
      if (!group.problem.empty() && sum > largest_sum(group)) {
        return problem.substr(0, problem.size() - rest.size() - (rest.empty() ? 0 : 1));
      }
    }
    const double distance = size_distance(sizes_, asked_);
    const auto standing = [](double away, std::string_view text) {
      return std::make_tuple(away, text.size(), text);
    };
    if (group.problem.empty() ||
        standing(distance, problem) < standing(group.distance, group.problem)) {
      group.problem = problem;
      group.distance = distance;
    }
    return {};
  }

  const std::vector<Near>& found() const { return groups_; }

 private:
  /// Compares squares, with a margin for rounding. Of two problems at one distance, the texts
  /// decide.
  double largest_sum(const Near& group) const {
    return group.distance * group.distance * static_cast<double>(names_.size()) + 1e-9;
  }

  std::string text_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> asked_, sizes_;
  std::vector<Near> groups_;
};

/// A policy and the settings of problems, of one device and one kernel.
struct Group {
  std::string policy, settings;
  auto operator<=>(const Group&) const = default;
};

/// Finds each by a search of its own, because there are few.
std::vector<Group> groups_of(Connection& connection, const DeviceRow& device,
                             const KernelRow& kernel) {
  std::vector<Group> groups;
  for (Group from;;) {
    Query query = connection.query(
        "SELECT policy, settings FROM best WHERE device = ? AND kernel = ? AND (policy, settings) "
        ">= (?, ?) ORDER BY policy, settings LIMIT 1");
    query.bind(device.id, kernel.id, from.policy, from.settings);
    if (!query.step()) return groups;
    Group next{query.text(0), query.text(1)};
    if (next < from) return groups;  // the index is damaged
    from = {next.policy, next.settings + '\x01'};
    groups.push_back(std::move(next));
  }
}

/// Offers the problems of a group in the order of their texts. After many in a row with a common
/// beginning that alone is too far, skips all problems with that beginning.
void offer_all(Connection& connection, const DeviceRow& device, const KernelRow& kernel,
               const Group& group, NearestOfEach& nearest) {
  constexpr int kMany = 16;  // cost about as much as finding the place behind them
  NearestOfEach::Near& near = nearest.group_of(device.id, group.settings, group.policy);
  Query query = connection.query(
      "SELECT problem FROM best WHERE device = ? AND kernel = ? AND policy = ? AND "
      "settings = ? AND problem >= ? ORDER BY problem");
  std::string from, beginning;
  query.bind(device.id, kernel.id, group.policy, group.settings, from);
  for (int count = 0; query.step();) {
    const std::string_view too_far = nearest.offer(near, query.view(0));
    if (too_far.empty() || too_far != beginning) count = 0;
    beginning = too_far;
    if (too_far.empty() || ++count < kMany) continue;
    std::string next = beginning + '!';  // which comes after the blank and before all digits
    if (next <= from) continue;          // the index is damaged
    from = std::move(next);
    query.restart().bind(device.id, kernel.id, group.policy, group.settings, from);
  }
}

/// The problem of exactly these sizes if it is tuned, else the nearest of the group.
void offer_group(Connection& connection, const DeviceRow& device, const KernelRow& kernel,
                 const Group& group, const std::string& sizes, NearestOfEach& nearest) {
  const std::string exact = group.settings.empty() ? sizes : sizes + ' ' + group.settings;
  if (stored_best(connection, {device.id, kernel.id, exact, group.policy})) {
    nearest.offer(nearest.group_of(device.id, group.settings, group.policy), exact);
  } else {
    offer_all(connection, device, kernel, group, nearest);
  }
}

/// Uses an index of keys only.
NearestOfEach nearest_of_all(const TunedStore& store, const TunedFilter& filter,
                             const std::string& sizes) {
  NearestOfEach nearest(sizes);
  each_pair(store, filter, [&](const DeviceRow& device, const KernelRow& kernel) {
    if (!nearest.expect(kernel.sizes)) return;
    for (const Group& group : groups_of(store.connection(), device, kernel)) {
      if (!filter.policy.empty() && group.policy != filter.policy) continue;
      offer_group(store.connection(), device, kernel, group, sizes, nearest);
    }
  });
  return nearest;
}

/// Reads every row, because some are not as they were stored.
NearestOfEach nearest_of_whole(const TunedStore& store, const TunedFilter& filter,
                               const std::string& sizes) {
  NearestOfEach nearest(sizes);
  for (const TunedEntry& entry : store.tuned(filter)) {
    const ProblemKey& key = entry.best.key;
    std::string_view settings = key.problem;
    if (!nearest.expect(entry.kernel.sizes) || !take_sizes(settings, entry.kernel.sizes)) continue;
    nearest.offer(nearest.group_of(key.device, settings, key.policy), key.problem);
  }
  return nearest;
}

/// Empty if one of the rows cannot be used.
std::optional<std::vector<NearEntry>> entries_of(const TunedStore& store, const TunedFilter& filter,
                                                 const NearestOfEach& nearest) {
  std::vector<NearEntry> entries;
  for (const NearestOfEach::Near& near : nearest.found()) {
    if (near.problem.empty()) continue;  // of a form that nobody can read
    std::vector<TunedEntry> latest =
        store.tuned({filter.device_name, filter.target, near.problem, near.policy, ""});
    std::erase_if(latest, [&](const TunedEntry& entry) { return entry.device.id != near.device; });
    if (latest.empty()) return std::nullopt;
    entries.push_back({std::move(latest.front()), near.distance});
  }
  std::ranges::sort(entries, comes_before, &NearEntry::entry);
  return entries;
}

}  // namespace

std::vector<NearEntry> TunedStore::nearest(const TunedFilter& filter,
                                           const std::string& sizes) const {
  return guarded(path(), [&] {
    auto entries = entries_of(*this, filter, nearest_of_all(*this, filter, sizes));
    if (!entries) entries = entries_of(*this, filter, nearest_of_whole(*this, filter, sizes));
    return entries.value_or(std::vector<NearEntry>{});
  });
}

}  // namespace autotune::db
