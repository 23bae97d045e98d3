// SPDX-License-Identifier: Apache-2.0
#include "db/past_times.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "db/facts.hpp"
#include "db/lookup_source.hpp"
#include "db/rows.hpp"

namespace autotune::db {
namespace {

/// The most problems of a device and a kernel. With more, there are winners enough.
constexpr std::int64_t kMostTrials = 50'000;
constexpr double kGoodRatio = 1.25;

/// A time, and the trial that it is from: 0 if it is from a best row, which is checked already.
struct FoundTime {
  PastTime time;
  std::int64_t trial = 0;
  bool may_answer = true;  // it was verified, and its time was not cut short
};

struct FoundProblem {
  PastProblem problem;
  bool pins_count = false;  // those of its settings
  std::vector<FoundTime> found = {};
};
using Problems = std::map<std::string, FoundProblem, std::less<>>;  // by their text

double time_or_0(double ns) { return std::isfinite(ns) && ns > 0 ? ns : 0; }

/// Whether the fact with this row number is as it was stored.
bool is_whole_trial(Connection& connection, std::int64_t trial) {
  Query query = connection.query(select_sql<TrialRow>(" WHERE rowid = ?"));
  return query.bind(trial).step() && is_whole(read_row<TrialRow>(query));
}

/// One layer of a request.
class LayerTimes {
 public:
  LayerTimes(const TunedStore& store, std::size_t layer, const LookupRequest& request,
             const LayerFailures& failures)
      : connection_(store.connection()),
        layer_(layer),
        request_(request),
        failures_(failures),
        parts_(store, request) {}

  PastTimes read() {
    PastTimes past;
    past.devices = parts_.devices();
    for (const Part& part : parts_.all()) {
      const auto device = std::ranges::find(past.devices, part.device.id, &DeviceRow::id);
      const auto number = static_cast<std::size_t>(device - past.devices.begin());
      for (auto& [text, found] : problems_of(part, past)) {
        found.problem.device = number;
        found.problem.source_drifted = part.source_drifted;
        sort_out(found);
        if (!found.problem.good.empty()) past.problems.push_back(std::move(found.problem));
      }
    }
    return past;
  }

 private:
  /// Uses times of a chain for problems that have none of the requested policy.
  Problems problems_of(const Part& part, PastTimes& past) {
    std::optional<Refutations> own;
    Problems all;
    for (const std::string& policy : policies_of(request_)) {
      Problems problems;
      read_best(part, policy, problems);
      try {
        guarded(connection_.path, [&] {
          if (!own) own.emplace(connection_, part.device.id, part.kernel.id);
          read_trials(part, policy, *own, problems);
        });
      } catch (const StoreError& error) {
        past.warnings.emplace_back(error.what());
      }
      std::erase_if(problems, [](const auto& one) { return one.second.found.empty(); });
      all.merge(problems);
    }
    return all;
  }

  /// nullptr if the problem has other settings.
  FoundProblem* problem_of(std::string_view text, Problems& problems) const {
    const auto known = problems.find(text);
    if (known != problems.end()) return &known->second;
    PastProblem problem;
    problem.sizes.resize(size_count_of(request_.size_names));
    std::string_view settings = text;
    if (!take_sizes(settings, request_.size_names, problem.sizes)) return nullptr;
    const SettingsMatch match = match_settings(request_, settings);
    if (!match.fits) return nullptr;
    problem.own_settings = match.own;
    return &problems.emplace(text, FoundProblem{std::move(problem), match.pins}).first->second;
  }

  void read_best(const Part& part, const std::string& policy, Problems& problems) {
    each_best(connection_, part, policy, [&](const StoredBest& best) {
      if (failures_.refute(layer_, part, best)) return;
      const bool is_pinned = best.view.provenance == "pinned";
      FoundProblem* const found = problem_of(best.view.problem, problems);
      if (found == nullptr || (is_pinned && !found->pins_count)) return;
      const Validity validity = parts_.validity(part, best.session);
      const PastTime time{std::string(best.view.configuration), time_or_0(best.view.median_ns),
                          std::string(best.view.provenance), validity};
      found->found.push_back({time});
      PastProblem& problem = found->problem;
      problem.is_answered = true;
      if (!failures_.refute(layer_, part, best.view.problem, policy,
                            best.view.default_configuration, best.since)) {
        problem.standard = {std::string(best.view.default_configuration),
                            time_or_0(best.view.default_ns), "measured", validity};
      }
      problem.baseline = best.view.baseline;
      problem.baseline_ns = time_or_0(best.view.baseline_ns);
      if (is_pinned) mark_cover(best.source, time, problem);
    });
  }

  /// If a cover has pinned the problem.
  void mark_cover(std::string_view pin_id, const PastTime& time, PastProblem& problem) {
    const auto mark = [&](const PinRow& pin) {
      if (!pin.note.starts_with(kCoverNote)) return;
      problem.cover = pin.note;
      problem.pinned = time;
    };
    each_usable<PinRow>(connection_, " AND id = ?", mark, pin_id);
  }

  bool has_few_trials(const Part& part, const std::string& policy) {
    Query count = connection_.query(format(
        "SELECT count(*) FROM (SELECT 1 FROM trial WHERE device = ? AND kernel = ? AND policy = ? "
        "LIMIT {})",
        kMostTrials + 1));
    count.bind(part.device.id, part.kernel.id, policy);
    return count.step() && count.integer(0) <= kMostTrials;
  }

  void read_trials(const Part& part, const std::string& policy, const Refutations& own,
                   Problems& problems) {
    if (!has_few_trials(part, policy)) return;
    Query rows = connection_.query(
        "SELECT problem, configuration, median_ns, rowid, created_at, session, outcome = 'ok' FROM "
        "trial WHERE device = ? AND kernel = ? AND policy = ? AND "
        "(outcome = 'pruned' OR outcome = 'ok' AND verified) AND " +
        live_sql<TrialRow>());
    rows.bind(part.device.id, part.kernel.id, policy);
    while (rows.step()) {
      const double ns = time_or_0(rows.number(2, 0));
      FoundProblem* const found = ns > 0 ? problem_of(rows.view(0), problems) : nullptr;
      if (found == nullptr) continue;
      const std::string_view problem = rows.view(0), configuration = rows.view(1);
      const std::string_view since = rows.view(4);
      if (own.refute(problem, policy, configuration, since) ||
          failures_.refute(layer_, part, problem, policy, configuration, since)) {
        continue;
      }
      const Validity validity = parts_.validity(part, rows.view(5));
      found->found.push_back({{std::string(configuration), ns, "measured", validity},
                              rows.integer(3),
                              rows.integer(6) != 0});
    }
  }

  /// Keeps good configurations, each once, apart from others. Checks only the good against their
  /// ids.
  void sort_out(FoundProblem& one) {
    std::ranges::stable_sort(one.found, is_before);
    std::vector<PastTime>& good = one.problem.good;
    std::vector<PastTime>& slower = one.problem.slower;
    for (FoundTime& each : one.found) {
      const bool is_near = good.empty() || each.time.ns <= kGoodRatio * good.front().ns;
      if (!each.may_answer || !is_near || good.size() == kMostGood) {
        if (each.time.ns > 0) slower.push_back(std::move(each.time));
        continue;
      }
      const bool is_known =
          std::ranges::find(good, each.time.configuration, &PastTime::configuration) != good.end();
      if (is_known || (each.trial != 0 && !is_whole_trial(connection_, each.trial))) continue;
      good.push_back(std::move(each.time));
    }
    std::ranges::stable_sort(slower, {}, &PastTime::configuration);
  }

  static bool is_before(const FoundTime& a, const FoundTime& b) {
    return b.time.ns == 0 ? a.time.ns > 0 : a.time.ns > 0 && a.time.ns < b.time.ns;
  }

  Connection& connection_;
  const std::size_t layer_;
  const LookupRequest& request_;
  const LayerFailures& failures_;
  LayerParts parts_;
};

PastTimes read_layer(const Layer& layer, std::size_t number, const LookupRequest& request,
                     const LayerFailures& failures) {
  const TunedStore store = layer.open();
  return guarded(layer.path, [&] { return LayerTimes(store, number, request, failures).read(); });
}

void append(PastTimes& all, PastTimes more) {
  for (PastProblem& problem : more.problems) {
    problem.device += all.devices.size();
    all.problems.push_back(std::move(problem));
  }
  std::ranges::move(more.devices, std::back_inserter(all.devices));
  std::ranges::move(more.warnings, std::back_inserter(all.warnings));
}

/// What failed at problems without an answer of their own.
std::vector<FailedThere> failed_there(const LayerFailures& failures, const PastTimes& past,
                                      const LookupRequest& request) {
  std::set<std::vector<std::int64_t>> answered;
  for (const PastProblem& problem : past.problems) {
    const bool is_here = is_same_device(past.devices[problem.device], request.device);
    if (is_here && problem.is_answered && problem.own_settings && !problem.source_drifted) {
      answered.insert(problem.sizes);
    }
  }
  std::map<std::vector<std::int64_t>, FailedThere> found;
  std::vector<std::int64_t> sizes(size_count_of(request.size_names));
  for (const Refutations& layer : failures.all()) {
    for (const auto& [problem, failed] : layer.failures()) {
      std::string_view settings = problem;
      if (!take_sizes(settings, request.size_names, sizes) || settings != request.settings ||
          answered.contains(sizes)) {
        continue;
      }
      FailedThere& there = found[sizes];
      there.sizes = sizes;
      for (const auto& [configuration, time] : failed) {
        const bool is_our_own = configuration.find('\n') == std::string::npos;
        if (is_our_own) there.configurations.push_back(configuration);
      }
    }
  }
  std::vector<FailedThere> all;
  for (auto& [key, there] : found) all.push_back(std::move(there));
  return all;
}

}  // namespace

const PastTime* PastProblem::timed(std::string_view configuration) const {
  const auto found = std::ranges::find(good, configuration, &PastTime::configuration);
  if (found != good.end()) return found->ns > 0 ? &*found : nullptr;
  const auto other = std::ranges::lower_bound(slower, configuration, {}, &PastTime::configuration);
  return other != slower.end() && other->configuration == configuration ? &*other : nullptr;
}

PastTimes read_past_times(std::span<const Layer> layers, const LookupRequest& request) {
  const LayerFailures failures(layers, request);
  PastTimes all;
  all.warnings = failures.warnings();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].is_there()) continue;
    try {
      append(all, read_layer(layers[i], i, request, failures));
    } catch (const std::exception& error) {
      all.warnings.emplace_back(error.what());
    }
  }
  all.failed = failed_there(failures, all, request);
  return all;
}

}  // namespace autotune::db
