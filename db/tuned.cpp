// SPDX-License-Identifier: Apache-2.0
// Reads tuned entries: best rows with the rows that their ids refer to. Only rows that are as they
// were stored.
#include "db/best.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "db/rows.hpp"

namespace autotune::db {
namespace {

/// Problems from `first` on, before `end`.
struct ProblemRange {
  std::string first, end;
};

ProblemRange range_of(const TunedFilter& filter) {
  if (!filter.problem.empty()) return {filter.problem, filter.problem + '\x01'};
  // `!` sorts after the blank: these sizes, with or without settings behind them.
  if (!filter.sizes.empty()) return {filter.sizes, filter.sizes + '!'};
  return {"", "\xff"};
}

/// Sessions by id, read at the first request; empty if a session cannot be used.
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

/// Reports rows that are in the table, but were not found by reading it in order.
void name_lost_rows(Connection& connection, const DeviceRow& device, const KernelRow& kernel,
                    std::int64_t read) {
  const std::int64_t rows = indexed_rows(connection, device.id, kernel.id);
  if (rows == read) return;
  connection.leave_out(
      "best of", kernel.target,
      format("{} of {} rows can be found; autotune db compact derives them anew", read, rows));
}

/// Whether the complaint of TunedStore::leave_out() lets the entry pass.
bool is_wanted(Connection& connection, const TunedEntry& entry) {
  const std::string why = connection.complaint ? connection.complaint(entry) : "";
  if (!why.empty()) connection.leave_out("best of", entry.best.key.problem, why);
  return why.empty();
}

}  // namespace

std::optional<BestRow> TunedStore::best(const ProblemKey& key) const {
  return guarded(path(), [&] {
    std::optional<BestRow> best = stored_best(*connection_, key);
    return best ? usable(*connection_, *std::move(best), latest_time()) : std::nullopt;
  });
}

std::optional<PinRow> TunedStore::refuted_pin(const ProblemKey& key) const {
  return guarded(path(), [&] {
    const std::optional<BestRow> best = stored_best(*connection_, key);
    const bool counts = best && best->provenance == "pinned";
    return counts ? std::nullopt : db::pin_of(*connection_, key);
  });
}

std::vector<TunedEntry> TunedStore::tuned(const TunedFilter& filter) const {
  return guarded(path(), [&] {
    std::vector<TunedEntry> all;
    Sessions sessions(*connection_);
    const ProblemRange range = range_of(filter);
    const std::string latest = latest_time();
    each_pair(*this, filter, [&](const DeviceRow& device, const KernelRow& kernel) {
      Query query = connection_->query(
          select_sql<BestRow>(" WHERE device = ? AND kernel = ? AND problem >= ? AND problem < ?"));
      query.bind(device.id, kernel.id, range.first, range.end);
      std::int64_t read = 0;
      for (; query.step(); ++read) {
        auto stored = read_row<BestRow>(query);
        if (!filter.policy.empty() && stored.key.policy != filter.policy) continue;
        std::optional<BestRow> best = usable(*connection_, std::move(stored), latest);
        if (!best) continue;
        TunedEntry entry{*std::move(best), device, kernel, {}};
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

std::vector<TunedEntry> TunedStore::unanswered(const TunedFilter& filter) const {
  static const std::string kSql =
      "SELECT problem, policy, session, max(created_at) FROM trial "
      "JOIN (SELECT DISTINCT problem AS open_problem, policy AS open_policy FROM trial "
      "WHERE device = ?1 AND kernel = ?2 AND problem >= ?3 AND problem < ?4 "
      "EXCEPT SELECT problem, policy FROM best WHERE device = ?1 AND kernel = ?2) "
      "ON problem = open_problem AND policy = open_policy "
      "WHERE device = ?1 AND kernel = ?2 AND " +
      live_sql<TrialRow>() + " GROUP BY problem, policy";
  return guarded(path(), [&] {
    std::vector<TunedEntry> all;
    Sessions sessions(*connection_);
    const ProblemRange range = range_of(filter);
    each_pair(*this, filter, [&](const DeviceRow& device, const KernelRow& kernel) {
      Query query = connection_->query(kSql);
      query.bind(device.id, kernel.id, range.first, range.end);
      while (query.step()) {
        TunedEntry entry{{}, device, kernel, sessions[query.text(2)]};
        entry.best.key = {device.id, kernel.id, query.text(0), query.text(1)};
        entry.best.session = query.text(2);
        entry.best.created_at = query.text(3);
        const bool wanted = filter.policy.empty() || entry.best.key.policy == filter.policy;
        if (wanted && !fault_of_problem(*connection_, entry.best.key)) {
          all.push_back(std::move(entry));
        }
      }
    });
    std::ranges::sort(all, std::greater(),
                      [](const TunedEntry& one) { return one.best.created_at; });
    return all;
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
