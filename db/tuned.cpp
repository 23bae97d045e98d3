// SPDX-License-Identifier: Apache-2.0
// What is tuned: best rows with what their ids stand for. Only rows that are what was stored.
#include <algorithm>
#include <map>
#include <tuple>

#include "db/best.hpp"
#include "db/facts.hpp"
#include "db/plain_query.hpp"
#include "db/problem_text.hpp"

namespace autotune::db {
namespace {

/// Problems from `first` on, before `end`.
struct ProblemRange {
  std::string first, end;
};

ProblemRange range_of(const TunedFilter& filter) {
  if (!filter.problem.empty()) return {filter.problem, filter.problem + '\x01'};
  // `!` comes after the blank: these sizes, alone or with settings behind them.
  if (!filter.sizes.empty()) return {filter.sizes, filter.sizes + '!'};
  return {"", "\xff"};
}

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

/// Sessions by id, read when first asked for; an empty one where it cannot be used.
class Sessions {
 public:
  explicit Sessions(Connection& connection) : connection_(connection) {}

  const SessionRow& operator[](const std::string& id) {
    const auto known = sessions_.find(id);
    if (known != sessions_.end()) return known->second;
    SessionRow& session = sessions_[id];
    each_usable<SessionRow>(
        connection_, " AND id = ?", [&](SessionRow&& row) { session = std::move(row); }, id);
    return session;
  }

 private:
  Connection& connection_;
  std::map<std::string, SessionRow> sessions_;
};

bool comes_before(const TunedEntry& a, const TunedEntry& b) {
  const auto order = [](const TunedEntry& entry) {
    const std::string& problem = entry.best.key.problem;
    return std::make_tuple(std::cref(entry.kernel.target), std::cref(entry.device.name),
                           problem.size(), std::cref(problem), std::cref(entry.best.key.policy));
  };
  const auto order_a = order(a), order_b = order(b);
  if (order_a < order_b || order_b < order_a) return order_a < order_b;
  return a.best.created_at > b.best.created_at;
}

/// Names rows that the table has and that reading it in order did not come by.
void name_lost_rows(Connection& connection, const DeviceRow& device, const KernelRow& kernel,
                    std::int64_t read) {
  const std::int64_t rows = indexed_rows(connection, device.id, kernel.id);
  if (rows == read) return;
  connection.leave_out(
      "best of", kernel.target,
      format("{} of {} rows can be found; autotune db compact derives them anew", read, rows));
}

/// Whether TunedStore::leave_out() has nothing against it.
bool is_wanted(Connection& connection, const TunedEntry& entry) {
  const std::string why = connection.complaint ? connection.complaint(entry) : "";
  if (!why.empty()) connection.leave_out("best of", entry.best.key.problem, why);
  return why.empty();
}

/// The problem nearest to some sizes of each device, settings and policy, of those that are
/// offered.
class NearestOfEach {
 public:
  struct Near {
    std::string device, settings, policy, problem;
    double distance = 0;
  };

  explicit NearestOfEach(const std::string& sizes) : text_(sizes) {}

  /// What the sizes of the problems that follow are called: `M N K`. False where those asked for
  /// have other names.
  bool expect(const std::string& names) {
    names_ = names;
    const auto count = static_cast<std::size_t>(std::ranges::count(names, ' ') + 1);
    asked_.resize(count);
    sizes_.resize(count);
    std::string_view rest = text_;
    return take_sizes(rest, names_, asked_) && rest.empty();
  }

  void offer(const std::string& device, std::string_view policy, std::string_view problem) {
    std::string_view settings = problem;
    if (!take_sizes(settings, names_, sizes_)) return;
    const double distance = size_distance(sizes_, asked_);
    Near& near = group_of(device, settings, policy);
    const auto standing = [](double away, std::string_view text) {
      return std::make_tuple(away, text.size(), text);
    };
    if (near.problem.empty() ||
        standing(distance, problem) < standing(near.distance, near.problem)) {
      near.problem = problem;
      near.distance = distance;
    }
  }

  const std::vector<Near>& found() const { return groups_; }

 private:
  Near& group_of(const std::string& device, std::string_view settings, std::string_view policy) {
    const auto is_it = [&](const Near& near) {
      return near.settings == settings && near.policy == policy && near.device == device;
    };
    const auto found = std::ranges::find_if(groups_, is_it);
    if (found != groups_.end()) return *found;
    groups_.push_back({device, std::string(settings), std::string(policy), "", 0});
    return groups_.back();
  }

  std::string text_, names_;
  std::vector<std::int64_t> asked_, sizes_;
  std::vector<Near> groups_;
};

/// Of one device and one kernel: a policy, and settings of problems.
struct Group {
  std::string policy, settings;
  auto operator<=>(const Group&) const = default;
};

/// Each in turn by a search of its own, as there are few.
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

/// The problem of these sizes where it is tuned, else every one of the group.
void offer_group(Connection& connection, const DeviceRow& device, const KernelRow& kernel,
                 const Group& group, const std::string& sizes, NearestOfEach& nearest) {
  const std::string exact = group.settings.empty() ? sizes : sizes + ' ' + group.settings;
  if (stored_best(connection, {device.id, kernel.id, exact, group.policy})) {
    return nearest.offer(device.id, group.policy, exact);
  }
  PlainQuery query(connection.database.getHandle(),
                   "SELECT problem FROM best WHERE device = ? AND kernel = ? AND policy = ? AND "
                   "settings = ?");
  query.bind(1, device.id);
  query.bind(2, kernel.id);
  query.bind(3, group.policy);
  query.bind(4, group.settings);
  while (query.step()) nearest.offer(device.id, group.policy, query.text(0));
}

/// By an index that holds nothing but the keys.
NearestOfEach nearest_of_all(const TunedStore& store, const TunedFilter& filter,
                             const std::string& sizes) {
  NearestOfEach nearest(sizes);
  each_pair(store, filter, [&](const DeviceRow& device, const KernelRow& kernel) {
    if (!nearest.expect(kernel.sizes)) return;
    for (const Group& group : groups_of(store.connection(), device, kernel)) {
      offer_group(store.connection(), device, kernel, group, sizes, nearest);
    }
  });
  return nearest;
}

/// By reading every row, as some of them are not what was stored.
NearestOfEach nearest_of_whole(const TunedStore& store, const TunedFilter& filter,
                               const std::string& sizes) {
  NearestOfEach nearest(sizes);
  for (const TunedEntry& entry : store.tuned(filter)) {
    const ProblemKey& key = entry.best.key;
    if (nearest.expect(entry.kernel.sizes)) nearest.offer(key.device, key.policy, key.problem);
  }
  return nearest;
}

/// Nothing where the row of one of them cannot be used.
std::optional<std::vector<NearEntry>> entries_of(const TunedStore& store, const TunedFilter& filter,
                                                 const NearestOfEach& nearest) {
  std::vector<NearEntry> entries;
  for (const NearestOfEach::Near& near : nearest.found()) {
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

std::optional<BestRow> TunedStore::best(const ProblemKey& key) const {
  return guarded(path(), [&] {
    std::optional<BestRow> best = stored_best(*connection_, key);
    if (best && !is_usable(*connection_, *best)) best.reset();
    return best;
  });
}

std::vector<TunedEntry> TunedStore::tuned(const TunedFilter& filter) const {
  return guarded(path(), [&] {
    std::vector<TunedEntry> all;
    Sessions sessions(*connection_);
    const ProblemRange range = range_of(filter);
    each_pair(*this, filter, [&](const DeviceRow& device, const KernelRow& kernel) {
      Query query = connection_->query(
          select_sql<BestRow>(" WHERE device = ? AND kernel = ? AND problem >= ? AND problem < ?"));
      query.bind(device.id, kernel.id, range.first, range.end);
      std::int64_t read = 0;
      for (; query.step(); ++read) {
        auto best = read_row<BestRow>(query);
        const bool wanted = filter.policy.empty() || best.key.policy == filter.policy;
        if (!wanted || !is_usable(*connection_, best)) continue;
        TunedEntry entry{std::move(best), device, kernel, {}};
        if (!is_wanted(*connection_, entry)) continue;
        entry.session = sessions[entry.best.session];
        all.push_back(std::move(entry));
      }
      if (range.first.empty()) name_lost_rows(*connection_, device, kernel, read);
    });
    std::ranges::sort(all, comes_before);
    return all;
  });
}

std::vector<NearEntry> TunedStore::nearest(const TunedFilter& filter,
                                           const std::string& sizes) const {
  return guarded(path(), [&] {
    auto entries = entries_of(*this, filter, nearest_of_all(*this, filter, sizes));
    if (!entries) entries = entries_of(*this, filter, nearest_of_whole(*this, filter, sizes));
    return entries.value_or(std::vector<NearEntry>{});
  });
}

std::vector<TunedOn> TunedStore::tuned_on() const {
  return guarded(path(), [&] {
    std::vector<TunedOn> all;
    each_pair(*this, {}, [&](const DeviceRow& device, const KernelRow& kernel) {
      Query query =
          connection_->query("SELECT 1 FROM best WHERE device = ? AND kernel = ? LIMIT 1");
      if (query.bind(device.id, kernel.id).step())
        all.push_back({kernel.target, device.name, kernel.sizes});
    });
    return all;
  });
}

}  // namespace autotune::db
