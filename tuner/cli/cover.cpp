// SPDX-License-Identifier: Apache-2.0
// autotune cover: the fewest configurations that serve every size of a range.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "db/past_times.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/compare.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/plugins.hpp"
#include "tuner/cli/tune_command.hpp"
#include "tuner/cli/tune_output.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/search/cover.hpp"
#include "tuner/search/strategies.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/reduction_class.hpp"
#include "tuner/session/tuning_session.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

constexpr std::size_t kMostOfEach = 12;  // candidates from one size
// With --bits: candidates without --within, configurations of a size whose bits are looked at, and
// how many classes, and configurations of each at each size, are timed at all sizes.
constexpr double kBitsLimit = 10;
constexpr std::size_t kMostClassified = 64, kMostClasses = 3, kMostOfClass = 3;
constexpr double kUnknownRatio = 3;  // of a class where none of its configurations was timed
constexpr double kSlow = 1.1;        // ratio from which on a class is searched for faster ones
constexpr double kUnserved = std::numeric_limits<double>::infinity();
constexpr const char* kCandidates = "the cover's candidates";

/// One size with its known times.
struct TunedSize {
  Problem problem;
  db::TunedEntry entry;
  std::map<std::string, double> ratios;
};

struct CoverTask {
  const Target& target;
  const std::vector<std::unique_ptr<Device>>& devices;
  db::TunedStore& store;
  double limit;  // 1.03: within 3 %
  TuningRequest request;
  const TuningCallbacks& callbacks;
  /// Whether a configuration whose timing stopped early counts with what was measured until then.
  bool takes_bounds = false;

  const DeviceInfo& device() const { return devices.front()->info(); }
};

TuningRequest cover_request(const Arguments& arguments, const Target& target, DeviceKind kind) {
  TuningRequest request;
  request.problems = problems_of(arguments, target);
  if (request.problems.size() < 2 && !arguments.has("bits")) {
    throw UsageError("cover needs two sizes or more, such as --sizes M=1..64*2,N=512,K=512");
  }
  request.budget_text = arguments.find("budget").value_or(default_budget(kind, request.strategy));
  request.budget = parse_budget(request.budget_text);
  request.policy = policy_of(arguments, kind);
  request.compile_threads = compile_threads_of(arguments);
  request.command = command_text(arguments);
  request.tool_version = AUTOTUNE_VERSION;
  return request;
}

/// Throws Error where a size has no correct configuration.
std::vector<TunedSize> places_of(const CoverTask& task) {
  std::vector<TunedSize> places;
  for (const Problem& problem : task.request.problems) {
    const auto entries = task.store.tuned(
        {task.device().name, task.target.name, problem.text(), key_text(task.request.policy)});
    const auto entry = std::ranges::find_if(entries, [&](const db::TunedEntry& one) {
      return one.kernel.fingerprint == task.target.fingerprint;
    });
    if (entry == entries.end()) {
      throw Error(
          format("{} {}: no configuration is correct there, so none can serve it: leave "
                 "this size out",
                 task.target.name, problem_text(task.target, problem)));
    }
    places.push_back(
        {problem, *entry, trial_ratios(task.store, *entry, task.takes_bounds ? 0 : task.limit)});
  }
  return places;
}

/// The fastest configurations of a place, at most `most` of them.
std::vector<std::string> fastest_of(const TunedSize& place, double limit, std::size_t most) {
  std::vector<std::pair<double, std::string>> good;
  for (const auto& [configuration, ratio] : place.ratios) {
    if (ratio <= limit) good.emplace_back(ratio, configuration);
  }
  std::ranges::sort(good);
  std::vector<std::string> fastest;
  for (const auto& [ratio, configuration] : good) {
    if (fastest.size() < most) fastest.push_back(configuration);
  }
  return fastest;
}

/// The fastest few configurations of each place.
std::vector<std::string> candidates_of(const std::vector<TunedSize>& places, double limit) {
  std::set<std::string> candidates;
  for (const TunedSize& place : places) {
    std::ranges::copy(fastest_of(place, limit, kMostOfEach),
                      std::inserter(candidates, candidates.end()));
  }
  return {candidates.begin(), candidates.end()};
}

/// Times the missing configurations. The sessions are partial, so no winner changes.
bool time_candidates(const CoverTask& task, const std::vector<std::string>& candidates) {
  std::vector<Configuration> list;
  for (const std::string& text : candidates) list.push_back(parse_named_values(text));
  add_strategy({kCandidates, "times a list",
                [list] { return std::make_unique<ListedConfigurations>(list); }});
  TuningRequest request = task.request;
  request.strategy = kCandidates;
  request.budget = {Budget::Kind::evaluations, static_cast<double>(list.size())};
  request.budget_text = std::to_string(list.size());
  request.partial = true;
  return !tune(task.target, task.devices, &task.store, request, task.callbacks).interrupted;
}

struct Covered {
  std::vector<TunedSize> places;
  std::vector<std::string> candidates;
  std::vector<std::vector<double>> ratios;  // a row for each candidate
  std::vector<TradeOff> curve;

  /// The fastest configuration at a place, of the curve's last choice.
  std::size_t server(std::size_t place) const {
    return *std::ranges::min_element(curve.back().chosen, {},
                                     [&](std::size_t c) { return ratios[c][place]; });
  }
};

/// Everything but the curve.
Covered timed(const CoverTask& task, std::vector<std::string> candidates) {
  Covered result{places_of(task), std::move(candidates), {}, {}};
  for (const std::string& candidate : result.candidates) {
    auto& row = result.ratios.emplace_back();
    for (const TunedSize& place : result.places) {
      const auto found = place.ratios.find(candidate);
      row.push_back(found != place.ratios.end() ? found->second : kUnserved);
    }
  }
  return result;
}

Covered covered(const CoverTask& task, std::vector<std::string> candidates) {
  Covered result = timed(task, std::move(candidates));
  result.curve = trade_off(result.ratios, task.limit);
  if (result.curve.empty()) {
    throw Error(
        format("{}: no choice of the configurations that were timed serves every size: "
               "raise --budget or --within",
               task.target.name));
  }
  return result;
}

/// Lookups recognize a cover by the notes of its pins.
void store_pin(const CoverTask& task, const TunedSize& place, const std::string& configuration,
               const std::string& note) {
  task.store.pin({.id = "",
                  .key = place.entry.best.key,
                  .configuration = configuration,
                  .note = note,
                  .created_at = db::now_text()});
}

void store_cover(const CoverTask& task, const Covered& result, const std::string& sizes) {
  const std::string note = format("{}{} within {:g} %, {}", db::kCoverNote, sizes,
                                  (task.limit - 1) * 100, db::now_text());
  for (std::size_t i = 0; i < result.places.size(); ++i) {
    store_pin(task, result.places[i], result.candidates[result.server(i)], note);
  }
}

std::vector<std::string> served_by(const CoverTask& task, const Covered& result,
                                   std::size_t candidate) {
  std::vector<std::string> served;
  for (std::size_t i = 0; i < result.places.size(); ++i) {
    if (result.server(i) != candidate) continue;
    served.push_back(format("{} ({:.3f}x)", problem_text(task.target, result.places[i].problem),
                            result.ratios[candidate][i]));
  }
  return served;
}

void print(const CoverTask& task, const Covered& result) {
  const std::size_t count = result.curve.back().chosen.size();
  std::cout << format("{} on {}: {} configuration{} serve{} {} sizes within {:g} %\n",
                      task.target.name, task.device().name, count, count == 1 ? "" : "s",
                      count == 1 ? "s" : "", result.places.size(), (task.limit - 1) * 100);
  std::cout << "configurations  worst loss  mean loss\n";
  for (const TradeOff& one : result.curve) {
    std::cout << format("{:>14}  {:>8.1f} %  {:>7.1f} %\n", one.chosen.size(),
                        (one.worst - 1) * 100, (one.mean - 1) * 100);
  }
  for (const std::size_t chosen : result.curve.back().chosen) {
    const Problem& first = result.places.front().problem;
    std::cout << format(
        "{}\n  {}\n",
        configuration_text(task.target, first, result.candidates[chosen], task.device()),
        joined(served_by(task, result, chosen), ", "));
  }
}

Json document_of(const CoverTask& task, const Covered& result) {
  Json curve = Json::array(), cover = Json::array();
  for (const TradeOff& one : result.curve) {
    curve.push_back({{"configurations", one.chosen.size()},
                     {"worst_loss", one.worst - 1},
                     {"mean_loss", one.mean - 1}});
  }
  for (const std::size_t chosen : result.curve.back().chosen) {
    Json serves = Json::array();
    for (std::size_t i = 0; i < result.places.size(); ++i) {
      if (result.server(i) != chosen) continue;
      serves.push_back({{"problem", json_of(result.places[i].problem.values)},
                        {"ratio", result.ratios[chosen][i]}});
    }
    cover.push_back(
        {{"config", json_of(parse_named_values(result.candidates[chosen]))}, {"serves", serves}});
  }
  return {{"target", task.target.name},
          {"device", task.device().name},
          {"db", task.store.path().string()},
          {"within", std::round((task.limit - 1) * 1e6) / 1e6},
          {"sizes", result.places.size()},
          {"curve", curve},
          {"cover", cover}};
}

// Bits: sizes that differ in M and batch only get configurations of one reduction class, or each
// size one with the bits of a vendor's library.

/// What --bits asks for.
struct WantedBits {
  std::string reduction_class;            // empty: the one that costs least
  std::optional<BaselineSource> library;  // whose bits each size is to have
};

/// The sizes and settings that a row of the output may depend on.
std::string group_of(const Problem& problem) {
  Problem group = problem;
  std::erase_if(group.values,
                [](const NamedValue& one) { return one.name == "M" || one.name == "batch"; });
  return group.text();
}

/// Numbers of the places in each group.
std::map<std::string, std::vector<std::size_t>> groups_of(const std::vector<TunedSize>& places) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < places.size(); ++i) {
    groups[group_of(places[i].problem)].push_back(i);
  }
  return groups;
}

/// A choice of configurations of one class for the sizes of a group.
struct StableChoice {
  std::string reduction_class;
  std::vector<std::size_t> places, servers;  // the candidate of each place
  double cost = kUnserved;                   // geometric mean of the ratios
  double worst = kUnserved;
};

/// The candidates' classes at places. Those of places that differ in M only are the same.
class ClassesAtPlaces {
 public:
  explicit ClassesAtPlaces(const CoverTask& task) : task_(task) {}

  /// A class for each candidate.
  const std::vector<std::string>& at(const Problem& problem,
                                     const std::vector<std::string>& candidates) {
    const auto [found, is_new] = known_.try_emplace({for_every_row(problem).text(), candidates});
    if (is_new) {
      Device& device = *task_.devices.front();
      const Device::Turn turn = device.take_turn();
      found->second =
          reduction_classes(device, task_.target, problem,
                            builds_of(device, task_.target, problem, candidates), &task_.store);
    }
    return found->second;
  }

 private:
  const CoverTask& task_;
  std::map<std::pair<std::string, std::vector<std::string>>, std::vector<std::string>> known_;
};

StableChoice choice_within(const Covered& result, const std::string& reduction_class,
                           const std::vector<std::size_t>& places,
                           const std::vector<std::vector<std::string>>& classes) {
  StableChoice choice{reduction_class, places, {}, 0, 0};
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::optional<std::size_t> best;
    for (std::size_t c = 0; c < result.candidates.size(); ++c) {
      if (classes[i][c] != reduction_class) continue;
      if (!best || result.ratios[c][places[i]] < result.ratios[*best][places[i]]) best = c;
    }
    const double ratio = best ? result.ratios[*best][places[i]] : kUnserved;
    choice.servers.push_back(best.value_or(0));
    choice.cost += std::log(ratio) / static_cast<double>(places.size());
    choice.worst = std::max(choice.worst, ratio);
  }
  choice.cost = std::exp(choice.cost);
  return choice;
}

bool is_class(const std::string& text) { return !text.empty() && text != kPlaceDependent; }

/// The wanted class, or the one that costs least over the places.
StableChoice stable_choice(const CoverTask& task, const Covered& result, const WantedBits& wanted,
                           const std::vector<std::size_t>& places, ClassesAtPlaces& known) {
  std::vector<std::vector<std::string>> classes;
  std::set<std::string> all;
  for (const std::size_t place : places) {
    classes.push_back(known.at(result.places[place].problem, result.candidates));
    std::ranges::copy_if(classes.back(), std::inserter(all, all.end()), is_class);
  }
  if (!wanted.reduction_class.empty()) all = {wanted.reduction_class};
  StableChoice best;
  for (const std::string& each : all) {
    StableChoice choice = choice_within(result, each, places, classes);
    if (choice.cost < best.cost) best = std::move(choice);
  }
  if (std::isfinite(best.cost)) return best;
  throw Error(format("{}: {} serves every size of {}: raise --budget or --within", task.target.name,
                     wanted.reduction_class.empty()
                         ? "no order of addition"
                         : "no configuration of class " + wanted.reduction_class,
                     group_of(result.places[places.front()].problem)));
}

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

/// The classes that seem to cost least over all places, as far as it is known.
std::vector<std::string> promising(const std::map<std::string, OfClass>& by_class) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, of_class] : by_class) {
    double cost = 0;
    for (const auto& here : of_class) {
      cost += std::log(here.empty() ? kUnknownRatio : here.begin()->first);
    }
    order.emplace_back(cost, name);
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

/// Parts of the space that have configurations of a class: each of one family, as far as values of
/// parameters tell the class apart. Of a family that was not timed, the default configuration
/// tells.
std::vector<NamedValues> parts_of_class(const CoverTask& task, const std::string& reduction_class,
                                        const std::vector<TunedSize>& places,
                                        const std::vector<Problem>& problems,
                                        ClassesAtPlaces& known) {
  std::map<std::string, NamedValues> families{{"", {}}};
  if (task.target.family) {
    const Parameter& family = task.target.parameters[*task.target.family];
    families.clear();
    for (const Value& value : family.values) families[value.text()] = {{family.name, value}};
  }
  std::vector<NamedValues> parts;
  for (const auto& [name, family] : families) {
    const Target target = with_fixed(task.target, family);
    std::set<std::string> all;
    for (const TunedSize& place : places) {
      for (const std::string& each : fastest_of(place, task.limit, kMostClassified)) {
        if (has_all(parse_named_values(each), family)) all.insert(each);
      }
    }
    for (const Problem& problem : problems) {
      if (!space_of(target, problem, task.device()).empty())
        all.insert(to_text(valid_default(target, problem, task.device())));
    }
    const std::vector<std::string> texts(all.begin(), all.end());
    const std::vector<std::string>& classes = known.at(problems.front(), texts);
    std::vector<Configuration> members, others;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      (classes[i] == reduction_class ? members : others).push_back(parse_named_values(texts[i]));
    }
    if (members.empty()) continue;
    NamedValues& part = parts.emplace_back(family);
    std::ranges::copy(what_sets_apart(members, std::move(others)), std::back_inserter(part));
  }
  return parts;
}

/// Searches the class that each group will have, at the sizes where its fastest is slow. The
/// sessions are partial. False if interrupted.
bool search_classes(const CoverTask& task, const WantedBits& wanted, ClassesAtPlaces& known) {
  const std::vector<TunedSize> places = places_of(task);
  for (const auto& [group, numbers] : groups_of(places)) {
    auto by_class = timed_by_class(task, places, numbers, known);
    if (by_class.empty()) continue;
    const std::string name =
        wanted.reduction_class.empty() ? promising(by_class).front() : wanted.reduction_class;
    OfClass& timed = by_class[name];
    timed.resize(numbers.size());
    std::vector<TunedSize> own;
    TuningRequest request = task.request;
    request.partial = true;
    request.problems.clear();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      own.push_back(places[numbers[i]]);
      if (timed[i].empty() || timed[i].begin()->first > kSlow)
        request.problems.push_back(own.back().problem);
    }
    if (request.problems.empty()) continue;
    for (const NamedValues& part : parts_of_class(task, name, own, request.problems, known)) {
      const Target target = with_fixed(task.target, part);
      if (tune(target, task.devices, &task.store, request, task.callbacks).interrupted)
        return false;
    }
  }
  return true;
}

/// The fastest few of each place in the wanted class, or in each of the promising ones.
std::vector<std::string> candidates_by_class(const CoverTask& task, const WantedBits& wanted,
                                             const std::vector<TunedSize>& places,
                                             ClassesAtPlaces& known) {
  std::set<std::string> candidates;
  for (const auto& [group, numbers] : groups_of(places)) {
    auto by_class = timed_by_class(task, places, numbers, known);
    const bool is_any = wanted.reduction_class.empty();
    for (const std::string& name :
         is_any ? promising(by_class) : std::vector{wanted.reduction_class}) {
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

struct Served {
  const TunedSize& place;
  std::string configuration;
  double ratio;
};

Json served_json(const Served& served) {
  return {{"problem", json_of(served.place.problem.values)},
          {"config", json_of(parse_named_values(served.configuration))},
          {"ratio", served.ratio}};
}

std::string line_of(const CoverTask& task, const Served& served) {
  return format(
      "  {:.3f}x {}: {}\n", served.ratio, problem_text(task.target, served.place.problem),
      configuration_text(task.target, served.place.problem, served.configuration, task.device()));
}

int keep_bits(const CoverTask& task, const Covered& result, const WantedBits& wanted,
              ClassesAtPlaces& known, const Arguments& arguments) {
  Json groups = Json::array();
  for (const auto& [group, places] : groups_of(result.places)) {
    const StableChoice choice = stable_choice(task, result, wanted, places, known);
    const std::string note = format("{}{}, {} {}, {}", db::kBitsNote, choice.reduction_class,
                                    arguments.text("sizes"), group, db::now_text());
    Json serves = Json::array();
    std::string lines;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Served served{result.places[places[i]], result.candidates[choice.servers[i]],
                          result.ratios[choice.servers[i]][places[i]]};
      store_pin(task, served.place, served.configuration, note);
      lines += line_of(task, served);
      serves.push_back(served_json(served));
    }
    groups.push_back({{"bits", choice.reduction_class},
                      {"mean_ratio", choice.cost},
                      {"worst_ratio", choice.worst},
                      {"serves", serves}});
    if (arguments.has("json")) continue;
    std::cout << format(
        "{} on {}: bits {} for {} sizes, {:.3f}x the fastest in the mean, {:.3f}x at "
        "worst\n{}",
        task.target.name, task.device().name, choice.reduction_class, places.size(), choice.cost,
        choice.worst, lines);
  }
  if (arguments.has("json")) {
    std::cout << json_text(Json{{"target", task.target.name},
                                {"device", task.device().name},
                                {"db", task.store.path().string()},
                                {"groups", groups}})
              << '\n';
  }
  return kDone;
}

/// The fastest configuration of each place with the bits of the library there. The exit status says
/// whether all places have one.
int take_bits_of(const CoverTask& task, const BaselineSource& library,
                 const std::vector<TunedSize>& places, const Arguments& arguments) {
  Device& device = *task.devices.front();
  const std::string name = library.plugin.stem().string();
  Json serves = Json::array(), without = Json::array();
  std::string lines;
  for (const TunedSize& place : places) {
    const std::vector<std::string> candidates = fastest_of(place, task.limit, kMostClassified);
    const Device::Turn turn = device.take_turn();
    const BitsOfLibrary bits =
        bits_of_library(device, task.target, place.problem,
                        builds_of(device, task.target, place.problem, candidates), library);
    const auto found = std::ranges::find(bits.alike, true);
    if (found == bits.alike.end()) {
      const std::string problem = problem_text(task.target, place.problem);
      const std::string why =
          bits.candidate.empty() ? format("{} does not compute {}", name, problem)
          : !bits.keeps_rows
              ? format("rows of {} {} at {} differ in their bits, so no configuration has them",
                       name, bits.candidate, problem)
              : format("none of {} configurations has the bits of {} {} at {}", candidates.size(),
                       name, bits.candidate, problem);
      lines += format("  {}\n", why);
      without.push_back({{"problem", json_of(place.problem.values)}, {"why", why}});
      continue;
    }
    const std::string& configuration =
        candidates[static_cast<std::size_t>(found - bits.alike.begin())];
    const Served served{place, configuration, place.ratios.at(configuration)};
    task.store.pin({.id = "",
                    .key = place.entry.best.key,
                    .configuration = configuration,
                    .note = format("bits of {} {}", name, bits.candidate),
                    .created_at = db::now_text()});
    lines += line_of(task, served);
    serves.push_back(served_json(served));
  }
  if (arguments.has("json")) {
    std::cout << json_text(Json{{"target", task.target.name},
                                {"device", task.device().name},
                                {"db", task.store.path().string()},
                                {"library", name},
                                {"serves", serves},
                                {"without", without}})
              << '\n';
  } else {
    std::cout << format("{} on {}: {} of {} sizes have a configuration with the bits of {}\n{}",
                        task.target.name, task.device().name, serves.size(), places.size(), name,
                        lines);
  }
  return without.empty() ? kDone : kFailed;
}

/// nullopt without --bits. Throws UsageError for another word, and for a target whose bits are not
/// known.
std::optional<WantedBits> wanted_bits(const Arguments& arguments, const Target& target,
                                      DeviceKind kind, Plugins& plugins) {
  constexpr std::string_view kLike = "like=";
  const auto word = arguments.find("bits");
  if (!word) return std::nullopt;
  const bool is_like = word->starts_with(kLike);
  const bool is_one =
      word->size() == 16 && word->find_first_not_of("0123456789abcdef") == std::string::npos;
  if (*word != "stable" && !is_like && !is_one) {
    throw UsageError(format(
        "--bits is stable, like=cublas or a class of 16 hexadecimal digits, not \"{}\"", *word));
  }
  for (const Problem& problem : problems_of(arguments, target)) {
    if (has_reduction_classes(target, problem)) continue;
    throw UsageError(
        format("--bits {} is for products of floating types with sizes M, N and K, "
               "such as gemm, not for {} {}",
               *word, target.name, problem_text(target, problem)));
  }
  if (!is_like) return WantedBits{is_one ? *word : "", std::nullopt};
  return WantedBits{"", library_called(word->substr(kLike.size()), target, kind, plugins)};
}

int run_cover(const Arguments& arguments) {
  catch_interrupts_at_start();
  double limit = limit_of(arguments);
  Plugins plugins(arguments);
  const Target target = plugins.find_target(arguments.text("target"));
  check_devices(arguments.text("device"));
  const DeviceKind kind = kind_asked_for(arguments);
  cover_request(arguments, target, kind);  // shows wrong usage
  const std::optional<WantedBits> bits = wanted_bits(arguments, target, kind, plugins);
  if (bits && !arguments.has("within")) limit = kBitsLimit;
  db::TunedStore store(database_path(arguments));
  const LeftOutWarning warning(store);
  const auto devices = open_devices(arguments.text("device"), compile_limit_of(arguments));
  const DeviceInfo& info = devices.front()->info();
  if (!devices.front()->runs()) {
    throw UsageError(
        format("cover times kernels, which {} cannot run: name a GPU or host with "
               "--device",
               info.name));
  }
  ProgressDisplay display(arguments.has("quiet"),
                          cover_request(arguments, target, info.kind).budget,
                          ProgressDisplay::Clock::now());
  const InterruptGuard guard([&] {
    for (const auto& device : devices) device->stop_compiling();
  });
  TuningCallbacks callbacks;
  callbacks.stop_requested = InterruptGuard::requested;
  callbacks.on_progress = [&](const Progress& progress) { display.show(progress); };
  callbacks.on_warning = [&](const std::string& sentence) { display.warn(sentence); };
  CoverTask task{
      target,    devices,         store, limit, cover_request(arguments, target, info.kind),
      callbacks, bits.has_value()};
  TuningRequest tuning = task.request;
  if (!arguments.has("no-baseline")) {
    tuning.baselines = plugins.baselines(target.name, info.kind);
  }
  bool is_whole = !tune(target, devices, &store, tuning, callbacks).interrupted;
  if (is_whole && bits && bits->library) {
    return take_bits_of(task, *bits->library, places_of(task), arguments);
  }
  std::vector<std::string> candidates;
  ClassesAtPlaces classes(task);
  is_whole = is_whole && (!bits || search_classes(task, *bits, classes));
  if (is_whole) {
    candidates = bits ? candidates_by_class(task, *bits, places_of(task), classes)
                      : candidates_of(places_of(task), limit);
  }
  is_whole = is_whole && (candidates.empty() || time_candidates(task, candidates));
  if (!is_whole) {
    display.warn("interrupted: every trial is kept; the same command continues from here");
    return kInterrupted;
  }
  if (bits) {
    return keep_bits(task, timed(task, std::move(candidates)), *bits, classes, arguments);
  }
  const Covered result = covered(task, std::move(candidates));
  store_cover(task, result, arguments.text("sizes"));
  if (arguments.has("json")) {
    std::cout << json_text(document_of(task, result)) << '\n';
  } else {
    print(task, result);
  }
  return kDone;
}

}  // namespace

BaselineSource library_called(const std::string& name, const Target& target, DeviceKind device,
                              Plugins& plugins) {
  if (device == DeviceKind::host) {
    throw UsageError(
        format("--bits like={0}: the host has no library {0}: name a GPU with --device", name));
  }
  for (BaselineSource& source : plugins.baselines(target.name)) {
    if (source.plugin.stem() == name) return std::move(source);
  }
  throw UsageError(
      format("--bits like={0}: no plugin {0} is a baseline here: autotune list plugins", name));
}

const Option kBitsOption{
    "bits",
    "B",
    "stable: rows of a product keep their bits, whatever M and batch are; a class: they have its "
    "bits; like=cublas: they have those of the library",
    {},
    false,
    "stable like=cublas"};

extern const Verb kCover;
const Verb kCover{
    .name = "cover",
    .synopsis = "--target T --sizes S [--within PERCENT] [option…]",
    .summary = "Find the fewest configurations that serve every size of a range",
    .details =
        R"(Tunes each size that is not tuned, and times the fastest configurations of each at all others. Then
it prints how much the best choice of 1, 2, … configurations loses against each size's fastest, at
worst and in the geometric mean. It stops at the fewest that lose at most `--within` percent
everywhere.

These configurations are stored as pins of the sizes, with a note. Programs and `query` get them for
these sizes. For sizes between the least and the largest of each dimension, libautotune chooses among
them. `autotune db unpin` removes the pins of the sizes that it names. With `--json`, stdout holds one
document:

    {"target": "gemm", "device": "NVIDIA H200", "db": "/home/me/tuned.db", "within": 0.03, "sizes": 7,
     "curve": [{"configurations": 1, "worst_loss": 0.31, "mean_loss": 0.12}, …],
     "cover": [{"config": {"BM": 16, …}, "serves": [{"problem": {"M": 1, …}, "ratio": 1.012}, …]}, …]}

`ratio` is the time over that of the size's fastest.

`--bits` chooses otherwise, for any number of sizes, and among the fastest 64 configurations that were
timed at each; without `--within`, within ten times its fastest. With `stable`, sizes that differ in M
and batch only get configurations of one reduction class: the fastest of each size in the class that
costs least over all. Where that is slow, the class is searched, with the same budget. So a row of the
output has the same bits whatever M is ([lock.md](lock.md#bits)). With a class of 16 hexadecimal digits, all get configurations of this
class. With `like=cublas`, each size gets the fastest configuration whose bits are those of the
library's own choice for this size. A sentence names each size that has none, and the exit status is
then 1.)",
    .options = {{"target", "T",
                 "A target's name (autotune list targets) or the path of a manifest"},
                {"sizes", "S", "The sizes, as for tune: M=1..64*2,N=512,K=512"},
                {"within", "PERCENT", "How much slower than each size's fastest may be", "3%"},
                kBitsOption,
                {"set", "NAME=VALUE", "A setting of the problem, such as dtype=f64", {}, true},
                kDevicesOption,
                {"db", "FILE", "The database; default: $AUTOTUNE_DB, else the user's data folder"},
                kPluginOption,
                {"budget", "B", "For sizes that are not tuned, as for tune"},
                {"l2", "STATE", "State of the L2 cache before a launch: hot or cold", "hot", false,
                 "hot cold"},
                {"launch", "FORM", "How launches are timed: graph or stream", "graph", false,
                 "graph stream"},
                {"context",
                 "C",
                 "The context of a call that decides, as for tune: between, chain or alone",
                 {},
                 false,
                 "between chain alone"},
                {"jobs", "N", "Compile threads; default: all cores"},
                kCompileLimitOption,
                {"no-baseline", "", "Do not time baselines (vendors' libraries)"},
                {"quiet", "", "No progress on stderr"},
                {"json", "", "Print one JSON document"}},
    .positional = {},
    .run = run_cover};

}  // namespace autotune::cli
