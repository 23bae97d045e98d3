// SPDX-License-Identifier: Apache-2.0
// cover --bits: classes of bits, and the search of the promising ones.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <random>
#include <set>

#include "tuner/cli/cover.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/session/reduction_class.hpp"

namespace autotune::cli {
namespace {

// How many classes, and configurations of each at each size, are timed at all sizes.
constexpr std::size_t kMostClasses = 5, kMostOfClass = 3;
constexpr double kUnknownRatio = 3;  // of a class where none of its configurations was timed
constexpr std::size_t kDrawn = 16;   // configurations of each family, at each of two sizes

/// Configurations of a class at each place of a group, by their ratios.
using OfClass = std::vector<std::map<double, std::string>>;

/// What was timed at these places, by class.
std::map<std::string, OfClass> timed_by_class(const CoverTask& task,
                                              const std::vector<TunedSize>& places,
                                              const std::vector<std::size_t>& numbers,
                                              ClassesAtPlaces& known) {
  std::set<std::string> all;
  for (const std::size_t i : numbers) {
    std::ranges::copy(fastest_of(places[i], task.limit, kMostClassified),
                      std::inserter(all, all.end()));
  }
  const std::vector<std::string> configurations(all.begin(), all.end());
  std::map<std::string, OfClass> by_class;
  for (std::size_t place = 0; place < numbers.size(); ++place) {
    const TunedSize& at = places[numbers[place]];
    const std::vector<std::string>& classes = known.at(at.problem, configurations);
    for (std::size_t c = 0; c < configurations.size(); ++c) {
      const auto ratio = at.ratios.find(configurations[c]);
      if (!is_class(classes[c]) || ratio == at.ratios.end() || ratio->second > task.limit) continue;
      OfClass& of_class = by_class[classes[c]];
      of_class.resize(numbers.size());
      of_class[place].emplace(ratio->second, configurations[c]);
    }
  }
  return by_class;
}

/// The wanted class, or those that seem to cost least over all places by `cost_of(name, timed)`,
/// infinite for one that cannot be chosen.
template <class CostOf>
std::vector<std::string> promising(const std::map<std::string, OfClass>& by_class,
                                   const WantedBits& wanted, CostOf cost_of) {
  if (!wanted.reduction_class.empty()) return {wanted.reduction_class};
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, timed] : by_class) {
    const double cost = cost_of(name, timed);
    if (std::isfinite(cost)) order.emplace_back(cost, name);
  }
  std::ranges::sort(order);
  std::vector<std::string> names;
  for (const auto& [cost, name] : order) {
    if (names.size() < kMostClasses) names.push_back(name);
  }
  return names;
}

/// The values that set members apart from others: of parameters where all members have the same.
/// The first ones tell most others apart.
NamedValues what_sets_apart(const std::vector<Configuration>& members,
                            std::vector<Configuration> others) {
  NamedValues apart;
  while (!others.empty()) {
    const NamedValue* best = nullptr;
    std::ptrdiff_t most = 0;
    for (const NamedValue& one : members.front()) {
      const auto has_it = [&](const Configuration& each) { return has_all(each, {one}); };
      if (!std::ranges::all_of(members, has_it)) continue;
      const auto told = std::ranges::count_if(others, std::not_fn(has_it));
      if (told > most) best = &one, most = told;
    }
    if (!best) break;
    apart.push_back(*best);
    std::erase_if(others, [&](const Configuration& each) { return !has_all(each, {*best}); });
  }
  return apart;
}

/// The target's families, each as the value that chooses it.
std::vector<NamedValues> families_of(const Target& target) {
  if (!target.family) return {{}};
  const Parameter& family = target.parameters[*target.family];
  std::vector<NamedValues> families;
  for (const Value& value : family.values) families.push_back({{family.name, value}});
  return families;
}

/// What shows which parts of the space have a class: of each family the fastest configurations of
/// all places, the default ones, and some that are drawn at the first and at the last place.
std::vector<std::string> examples(const CoverTask& task, const std::vector<TunedSize>& places) {
  std::set<std::string> all;
  for (const TunedSize& place : places) {
    std::ranges::copy(fastest_of(place, task.limit, kMostClassified),
                      std::inserter(all, all.end()));
  }
  std::mt19937_64 random(1);
  for (const NamedValues& family : families_of(task.target)) {
    const Target target = with_fixed(task.target, family);
    for (const TunedSize* place : {&places.front(), &places.back()}) {
      const ParameterSpace space = space_of(target, place->problem, task.device());
      if (space.empty()) continue;
      all.insert(to_text(valid_default(target, place->problem, task.device())));
      for (std::size_t i = 0; i < kDrawn; ++i)
        all.insert(to_text(space.at(random() % space.size())));
    }
  }
  return {all.begin(), all.end()};
}

/// Configurations by class.
using Members = std::map<std::string, std::vector<Configuration>>;

/// Parts of the space that have configurations of a class: each of one family, as far as values of
/// parameters tell the class apart.
std::vector<NamedValues> parts_of_class(const Target& target, const std::string& reduction_class,
                                        const Members& members) {
  std::vector<NamedValues> parts;
  for (const NamedValues& family : families_of(target)) {
    std::vector<Configuration> own, others;
    for (const auto& [name, all] : members) {
      std::ranges::copy_if(all, std::back_inserter(name == reduction_class ? own : others),
                           [&](const Configuration& each) { return has_all(each, family); });
    }
    if (own.empty()) continue;
    NamedValues& part = parts.emplace_back(family);
    std::ranges::copy(what_sets_apart(own, std::move(others)), std::back_inserter(part));
  }
  return parts;
}

/// The least time that the cost model expects of these parts of the space.
double least_expected(const CoverTask& task, const Problem& problem,
                      const std::vector<NamedValues>& parts) {
  double least = std::numeric_limits<double>::infinity();
  for (const NamedValues& part : parts) {
    const Target target = with_fixed(task.target, part);
    const ParameterSpace space = space_of(target, problem, task.device());
    if (space.empty()) continue;
    const CostModel model(target, problem, space, task.device());
    least = std::min(least, std::ranges::min(model.predict_all()));
  }
  return least;
}

/// The logarithm of what a class costs over the places, where it was not timed by the cost model:
/// infinite if no configuration is valid at one of them.
double expected_cost(const CoverTask& task, const std::vector<TunedSize>& places,
                     const OfClass& timed, const std::vector<NamedValues>& parts,
                     const std::vector<double>& least_of_all) {
  double cost = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    cost +=
        std::log(timed[i].empty() ? least_expected(task, places[i].problem, parts) / least_of_all[i]
                                  : timed[i].begin()->first);
  }
  return cost;
}

}  // namespace

const std::vector<std::string>& ClassesAtPlaces::at(const Problem& problem,
                                                    const std::vector<std::string>& candidates) {
  const auto [found, is_new] = known_.try_emplace({for_every_row(problem).text(), candidates});
  if (is_new) {
    Device& device = *task_.devices.front();
    const Device::Turn turn = device.take_turn();
    found->second = reduction_classes(
        device, task_.target, problem,
        builds_of(device, task_.target, problem, candidates, task_.request.compile_threads),
        &task_.store);
  }
  return found->second;
}

bool search_classes(const CoverTask& task, const WantedBits& wanted, ClassesAtPlaces& known) {
  const std::vector<TunedSize> places = tuned_places(task);
  for (const auto& [group, numbers] : groups_by_rows(places)) {
    std::vector<TunedSize> own;
    for (const std::size_t i : numbers) own.push_back(places[i]);
    auto by_class = timed_by_class(task, places, numbers, known);
    const std::vector<std::string> texts = examples(task, own);
    const std::vector<std::string>& classes = known.at(own.front().problem, texts);
    Members members;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      members[classes[i]].push_back(parse_named_values(texts[i]));
      if (is_class(classes[i])) by_class[classes[i]].resize(numbers.size());
    }
    std::map<std::string, std::vector<NamedValues>> parts;
    for (const auto& [name, timed] : by_class)
      parts[name] = parts_of_class(task.target, name, members);
    std::vector<double> least_of_all;
    if (wanted.reduction_class.empty()) {  // else nothing is ranked
      for (const TunedSize& place : own)
        least_of_all.push_back(least_expected(task, place.problem, families_of(task.target)));
    }
    const auto cost_of = [&](const std::string& name, const OfClass& timed) {
      return expected_cost(task, own, timed, parts[name], least_of_all);
    };
    for (const std::string& name : promising(by_class, wanted, cost_of)) {
      OfClass& timed = by_class[name];
      timed.resize(numbers.size());
      TuningRequest request = task.request;
      request.partial = true;
      request.problems.clear();
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (timed[i].empty() || timed[i].begin()->first > kSlow)
          request.problems.push_back(own[i].problem);
      }
      if (request.problems.empty()) continue;
      for (const NamedValues& part : parts[name]) {
        const Target target = with_fixed(task.target, part);
        if (tune(target, task.devices, &task.store, request, task.callbacks).interrupted)
          return false;
      }
    }
  }
  return true;
}

std::vector<std::string> candidates_by_class(const CoverTask& task, const WantedBits& wanted,
                                             const std::vector<TunedSize>& places,
                                             ClassesAtPlaces& known) {
  std::set<std::string> candidates;
  for (const auto& [group, numbers] : groups_by_rows(places)) {
    auto by_class = timed_by_class(task, places, numbers, known);
    const auto cost_of = [](const std::string&, const OfClass& timed) {
      double cost = 0;
      for (const auto& here : timed)
        cost += std::log(here.empty() ? kUnknownRatio : here.begin()->first);
      return cost;
    };
    for (const std::string& name : promising(by_class, wanted, cost_of)) {
      for (const auto& here : by_class[name]) {
        std::size_t taken = 0;
        for (const auto& [ratio, configuration] : here) {
          if (++taken <= kMostOfClass) candidates.insert(configuration);
        }
      }
    }
  }
  return {candidates.begin(), candidates.end()};
}

}  // namespace autotune::cli
