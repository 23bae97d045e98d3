// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/found_elsewhere.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "tuner/core/value.hpp"

namespace autotune {
namespace {

constexpr double kFarthest = 1;          // NearEntry::distance: a factor of two in every size
constexpr double kRunnerUpMargin = 0.1;  // behind the fastest trial of the same problem

/// The fast configurations of one problem of another device, the fastest first.
struct DeviceRanking {
  std::string device;
  std::vector<std::string> configurations;
};

/// Sizes and settings of a problem as texts.
std::pair<std::string, std::string> parts_of(const Target& target, const Problem& problem) {
  const auto middle = problem.values.begin() + static_cast<std::ptrdiff_t>(target.sizes.size());
  return {to_text({problem.values.begin(), middle}), to_text({middle, problem.values.end()})};
}

/// The latest trial of a configuration counts.
std::vector<std::pair<double, std::string>> timed(std::span<const db::TrialRow> trials) {
  std::map<std::string, double> latest;
  for (const db::TrialRow& trial : trials) {
    latest.erase(trial.configuration);
    if (trial.outcome == "ok" && trial.median_ns) latest[trial.configuration] = *trial.median_ns;
  }
  std::vector<std::pair<double, std::string>> all;
  for (const auto& [configuration, ns] : latest) all.emplace_back(ns, configuration);
  std::ranges::sort(all);
  return all;
}

DeviceRanking ranking_of(const db::TunedStore& store, const db::TunedEntry& entry) {
  DeviceRanking ranking{entry.device.name, {entry.best.configuration}};
  const auto trials = timed(store.standing(entry.best.key));
  for (const auto& [ns, configuration] : trials) {
    if (ns > trials.front().first * (1 + kRunnerUpMargin)) break;
    if (ranking.configurations.size() == kMostFoundElsewhere) break;
    if (configuration != entry.best.configuration) ranking.configurations.push_back(configuration);
  }
  return ranking;
}

/// Tuned on other devices, the nearest problems first.
std::vector<db::NearEntry> near_entries(const db::TunedStore& store, const Target& target,
                                        const Problem& problem, const db::ProblemKey& here,
                                        DeviceKind kind) {
  const auto [sizes, settings] = parts_of(target, problem);
  std::vector<db::NearEntry> near =
      store.nearest({.target = target.name, .policy = here.policy}, sizes);
  std::erase_if(near, [&, &settings = settings](const db::NearEntry& one) {
    const db::TunedEntry& entry = one.entry;
    return one.distance > kFarthest || entry.device.id == here.device ||
           entry.device.kind != name_of(kind) || entry.best.settings != settings;
  });
  std::ranges::stable_sort(near, {}, &db::NearEntry::distance);
  return near;
}

}  // namespace

std::vector<db::ProblemKey> problems_elsewhere(const db::TunedStore& store, const Target& target,
                                               const Problem& problem, const db::ProblemKey& here,
                                               DeviceKind kind) {
  std::vector<db::ProblemKey> keys;
  for (const db::NearEntry& one : near_entries(store, target, problem, here, kind)) {
    keys.push_back(one.entry.best.key);
  }
  return keys;
}

std::vector<FoundElsewhere> found_elsewhere(const db::TunedStore& store, const Target& target,
                                            const Problem& problem, const db::ProblemKey& here,
                                            DeviceKind kind, const ParameterSpace& space) {
  std::vector<DeviceRanking> all;
  for (const db::NearEntry& one : near_entries(store, target, problem, here, kind)) {
    all.push_back(ranking_of(store, one.entry));
  }
  std::vector<FoundElsewhere> found;
  std::set<std::size_t> taken;
  for (std::size_t rank = 0; rank < kMostFoundElsewhere; ++rank) {
    for (const DeviceRanking& ranking : all) {
      if (rank >= ranking.configurations.size()) continue;
      const auto index = space.find(parse_named_values(ranking.configurations[rank]));
      if (!index || found.size() == kMostFoundElsewhere || !taken.insert(*index).second) continue;
      found.push_back({*index, ranking.device});
    }
  }
  return found;
}

}  // namespace autotune
