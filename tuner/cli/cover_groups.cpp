// SPDX-License-Identifier: Apache-2.0
// cover --bits and --over: a choice for each group of problems.
#include "tuner/cli/cover.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <iterator>
#include <set>

#include "db/past_times.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/reduction_class.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// What a row of the output does not depend on.
const std::vector<std::string> kOfOtherRows{"M", "batch"};

/// A problem without these sizes or settings.
std::string group_of(const Problem& problem, const std::vector<std::string>& without) {
  Problem group = problem;
  std::erase_if(group.values, [&](const NamedValue& one) {
    return std::ranges::find(without, one.name) != without.end();
  });
  return group.text();
}

/// By what their problems have beside these sizes or settings.
PlaceGroups groups_of(const std::vector<TunedSize>& places,
                      const std::vector<std::string>& without) {
  PlaceGroups groups;
  for (std::size_t i = 0; i < places.size(); ++i)
    groups[group_of(places[i].problem, without)].push_back(i);
  return groups;
}

/// A choice of configurations for the places of a group.
struct GroupChoice {
  std::string of;                            // the class, or the setting
  std::string note;                          // of the pins
  std::vector<std::size_t> places, servers;  // the candidate of each place
  double cost = kUnserved;                   // geometric mean of the ratios
  double worst = kUnserved;
};

/// The fastest candidate of each place: of those that may serve the i-th.
GroupChoice choice_of(const Covered& result, const std::string& of,
                      const std::vector<std::size_t>& places,
                      const std::function<bool(std::size_t i, std::size_t candidate)>& may_serve) {
  GroupChoice choice{of, "", places, {}, 0, 0};
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::optional<std::size_t> best;
    for (std::size_t c = 0; c < result.candidates.size(); ++c) {
      if (!may_serve(i, c)) continue;
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

/// The wanted class, or the one that costs least over the places: of those that are nowhere slow,
/// if there are any.
GroupChoice stable_choice(const CoverTask& task, const Covered& result, const WantedBits& wanted,
                          const std::vector<std::size_t>& places, ClassesAtPlaces& known) {
  std::vector<std::vector<std::string>> classes;
  std::set<std::string> all;
  for (const std::size_t place : places) {
    classes.push_back(known.at(result.places[place].problem, result.candidates));
    std::ranges::copy_if(classes.back(), std::inserter(all, all.end()), is_class);
  }
  if (!wanted.reduction_class.empty()) all = {wanted.reduction_class};
  GroupChoice best;
  for (const std::string& each : all) {
    GroupChoice choice = choice_of(
        result, each, places, [&](std::size_t i, std::size_t c) { return classes[i][c] == each; });
    if (std::pair(choice.worst > kSlow, choice.cost) < std::pair(best.worst > kSlow, best.cost))
      best = std::move(choice);
  }
  if (std::isfinite(best.cost)) return best;
  throw Error(format("{}: {} serves every size of {}: raise --budget or --within", task.target.name,
                     wanted.reduction_class.empty()
                         ? "no order of addition"
                         : "no configuration of class " + wanted.reduction_class,
                     group_of(result.places[places.front()].problem, kOfOtherRows)));
}

}  // namespace

PlaceGroups groups_by_rows(const std::vector<TunedSize>& places) {
  return groups_of(places, kOfOtherRows);
}

PlaceGroups groups_by_size(const Target& target, const std::vector<TunedSize>& places) {
  std::vector<std::string> settings;
  for (const Setting& each : target.settings) settings.push_back(each.name);
  return groups_of(places, settings);
}

namespace {

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

/// Pins and prints the choices. `option`: --bits or --over.
int keep(const CoverTask& task, const Covered& result, const std::vector<GroupChoice>& choices,
         const std::string& option, const Arguments& arguments) {
  Json groups = Json::array();
  for (const GroupChoice& choice : choices) {
    Json serves = Json::array();
    std::string lines;
    for (std::size_t i = 0; i < choice.places.size(); ++i) {
      const Served served{result.places[choice.places[i]], result.candidates[choice.servers[i]],
                          result.ratios[choice.servers[i]][choice.places[i]]};
      store_pin(task, served.place, served.configuration, choice.note);
      lines += line_of(task, served);
      serves.push_back(served_json(served));
    }
    groups.push_back({{option, choice.of},
                      {"mean_ratio", choice.cost},
                      {"worst_ratio", choice.worst},
                      {"serves", serves}});
    if (arguments.has("json")) continue;
    std::cout << format(
        "{} on {}: {} {} for {} problems, {:.3f}x the fastest in the mean, {:.3f}x at worst\n{}",
        task.target.name, task.device().name, option == "over" ? "one configuration over" : option,
        choice.of, choice.places.size(), choice.cost, choice.worst, lines);
  }
  if (arguments.has("json")) {
    Json document = head_of(task);
    document["groups"] = std::move(groups);
    std::cout << json_text(document) << '\n';
  }
  return kDone;
}

}  // namespace

int keep_bits(const CoverTask& task, const Covered& result, const WantedBits& wanted,
              ClassesAtPlaces& known, const Arguments& arguments) {
  std::vector<GroupChoice> choices;
  for (const auto& [group, places] : groups_by_rows(result.places)) {
    GroupChoice& choice = choices.emplace_back(stable_choice(task, result, wanted, places, known));
    choice.note = format("{}{}, {} {}, {}", db::kBitsNote, choice.of, arguments.text("sizes"),
                         group, db::now_text());
  }
  return keep(task, result, choices, "bits", arguments);
}

int keep_one_over(const CoverTask& task, const Covered& result, const Arguments& arguments) {
  const std::string setting = arguments.text("over");
  std::vector<GroupChoice> choices;
  for (const auto& [group, places] : groups_by_size(task.target, result.places)) {
    GroupChoice best;
    for (std::size_t candidate = 0; candidate < result.candidates.size(); ++candidate) {
      GroupChoice choice = choice_of(result, setting, places,
                                     [&](std::size_t, std::size_t c) { return c == candidate; });
      if (std::pair(choice.worst, choice.cost) < std::pair(best.worst, best.cost))
        best = std::move(choice);
    }
    if (best.places.empty()) {
      throw Error(
          format("{}: no configuration that was timed serves every {} of {}: raise --budget",
                 task.target.name, setting, group));
    }
    best.note = format("least worst loss over {}, {}", setting, db::now_text());
    choices.push_back(std::move(best));
  }
  return keep(task, result, choices, "over", arguments);
}

int take_bits_of(const CoverTask& task, const BaselineSource& library,
                 const std::vector<TunedSize>& places, const Arguments& arguments) {
  Device& device = *task.devices.front();
  const std::string name = library.plugin.stem().string();
  Json serves = Json::array(), without = Json::array();
  std::string lines;
  for (const TunedSize& place : places) {
    const std::vector<std::string> candidates = fastest_of(place, task.limit, kMostClassified);
    const Device::Turn turn = device.take_turn();
    const BitsOfLibrary bits = bits_of_library(
        device, task.target, place.problem,
        builds_of(device, task.target, place.problem, candidates, task.request.compile_threads),
        library);
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
    store_pin(task, place, configuration, format("bits of {} {}", name, bits.candidate));
    lines += line_of(task, served);
    serves.push_back(served_json(served));
  }
  if (arguments.has("json")) {
    Json document = head_of(task);
    document["library"] = name;
    document["serves"] = std::move(serves);
    document["without"] = std::move(without);
    std::cout << json_text(document) << '\n';
  } else {
    std::cout << format("{} on {}: {} of {} sizes have a configuration with the bits of {}\n{}",
                        task.target.name, task.device().name, serves.size(), places.size(), name,
                        lines);
  }
  return without.empty() ? kDone : kFailed;
}

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

const Option kOverOption{
    "over", "SETTING",
    "A setting with alike values, such as draw: each size gets the one configuration that loses "
    "least at worst over these values"};

const Option kBitsOption{
    "bits",
    "B",
    "stable: rows of a product keep their bits, whatever M and batch are; a class: they have its "
    "bits; like=cublas: they have those of the library",
    {},
    false,
    "stable like=cublas"};

}  // namespace autotune::cli
