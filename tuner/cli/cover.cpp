// SPDX-License-Identifier: Apache-2.0
// autotune cover: the fewest configurations that serve every size of a range.
#include <algorithm>
#include <cmath>
#include <iostream>
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
constexpr double kStableLimit = 1.25;    // of candidates for stable bits, without --within
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

  const DeviceInfo& device() const { return devices.front()->info(); }
};

TuningRequest cover_request(const Arguments& arguments, const Target& target, DeviceKind kind) {
  TuningRequest request;
  request.problems = problems_of(arguments, target);
  if (request.problems.size() < 2) {
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
    places.push_back({problem, *entry, trial_ratios(task.store, *entry, task.limit)});
  }
  return places;
}

/// The fastest few configurations of each place.
std::vector<std::string> candidates_of(const std::vector<TunedSize>& places, double limit) {
  std::set<std::string> candidates;
  for (const TunedSize& place : places) {
    std::vector<std::pair<double, std::string>> good;
    for (const auto& [configuration, ratio] : place.ratios) {
      if (ratio <= limit) good.emplace_back(ratio, configuration);
    }
    std::ranges::sort(good);
    if (good.size() > kMostOfEach) good.resize(kMostOfEach);
    for (const auto& [ratio, configuration] : good) candidates.insert(configuration);
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
                  .note = std::string(db::kCoverNote) + note,
                  .created_at = db::now_text()});
}

void store_cover(const CoverTask& task, const Covered& result, const std::string& sizes) {
  const std::string note =
      format("{} within {:g} %, {}", sizes, (task.limit - 1) * 100, db::now_text());
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

// Stable bits: sizes that differ in M and batch only get configurations of one reduction class.

/// The sizes and settings that a row of the output may depend on.
std::string group_of(const Problem& problem) {
  Problem group = problem;
  std::erase_if(group.values,
                [](const NamedValue& one) { return one.name == "M" || one.name == "batch"; });
  return group.text();
}

/// A choice of configurations of one class for the sizes of a group.
struct StableChoice {
  std::string reduction_class;
  std::vector<std::size_t> places, servers;  // the candidate of each place
  double cost = kUnserved;                   // geometric mean of the ratios
  double worst = kUnserved;
};

/// The candidates' classes at a place. Those of places that differ in M only are the same.
const std::vector<std::string>& classes_at(const CoverTask& task, const Covered& result,
                                           std::size_t place,
                                           std::map<std::string, std::vector<std::string>>& known) {
  Problem problem = result.places[place].problem;
  for (NamedValue& value : problem.values) {
    if (value.name == "M") value.value = 1;
  }
  const auto [found, is_new] = known.try_emplace(problem.text());
  if (is_new) {
    Device& device = *task.devices.front();
    const Device::Turn turn = device.take_turn();
    found->second = reduction_classes(device, task.target, problem, result.candidates);
  }
  return found->second;
}

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

/// The class that costs least over the places.
StableChoice stable_choice(const CoverTask& task, const Covered& result,
                           const std::vector<std::size_t>& places,
                           std::map<std::string, std::vector<std::string>>& known) {
  std::vector<std::vector<std::string>> classes;
  std::set<std::string> all;
  for (const std::size_t place : places) {
    classes.push_back(classes_at(task, result, place, known));
    all.insert(classes.back().begin(), classes.back().end());
  }
  all.erase("");
  all.erase(kPlaceDependent);
  StableChoice best;
  for (const std::string& each : all) {
    StableChoice choice = choice_within(result, each, places, classes);
    if (choice.cost < best.cost) best = std::move(choice);
  }
  if (std::isfinite(best.cost)) return best;
  throw Error(format("{}: no order of addition serves every size of {}: raise --budget or --within",
                     task.target.name, group_of(result.places[places.front()].problem)));
}

int keep_bits(const CoverTask& task, const Covered& result, const Arguments& arguments) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < result.places.size(); ++i) {
    groups[group_of(result.places[i].problem)].push_back(i);
  }
  std::map<std::string, std::vector<std::string>> known;
  Json document{{"target", task.target.name},
                {"device", task.device().name},
                {"db", task.store.path().string()},
                {"groups", Json::array()}};
  for (const auto& [group, places] : groups) {
    const StableChoice choice = stable_choice(task, result, places, known);
    const std::string note = format("bits {}, {} {}, {}", choice.reduction_class,
                                    arguments.text("sizes"), group, db::now_text());
    Json serves = Json::array();
    std::string lines;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const TunedSize& place = result.places[places[i]];
      const std::string& configuration = result.candidates[choice.servers[i]];
      const double ratio = result.ratios[choice.servers[i]][places[i]];
      store_pin(task, place, configuration, note);
      lines += format("  {:.3f}x {}: {}\n", ratio, problem_text(task.target, place.problem),
                      configuration_text(task.target, place.problem, configuration, task.device()));
      serves.push_back({{"problem", json_of(place.problem.values)},
                        {"config", json_of(parse_named_values(configuration))},
                        {"ratio", ratio}});
    }
    document["groups"].push_back({{"bits", choice.reduction_class},
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
  if (arguments.has("json")) std::cout << json_text(document) << '\n';
  return kDone;
}

/// Whether bits are to be stable. Throws UsageError for another word, and for a target whose bits
/// are not known.
bool wants_stable_bits(const Arguments& arguments, const Target& target) {
  const auto word = arguments.find("bits");
  if (!word) return false;
  if (*word != "stable") throw UsageError(format("--bits is stable, not \"{}\"", *word));
  for (const Problem& problem : problems_of(arguments, target)) {
    if (has_reduction_classes(target, problem)) continue;
    throw UsageError(
        format("--bits stable is for products of floating types with sizes M, N and K, "
               "such as gemm, not for {} {}",
               target.name, problem_text(target, problem)));
  }
  return true;
}

int run_cover(const Arguments& arguments) {
  double limit = limit_of(arguments);
  Plugins plugins(arguments);
  const Target target = plugins.find_target(arguments.text("target"));
  const bool is_stable = wants_stable_bits(arguments, target);
  if (is_stable && !arguments.has("within")) limit = kStableLimit;
  check_devices(arguments.text("device"));
  cover_request(arguments, target, kind_asked_for(arguments));  // shows wrong usage
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
  CoverTask task{target,   devices, store, limit, cover_request(arguments, target, info.kind),
                 callbacks};
  TuningRequest tuning = task.request;
  if (info.kind == DeviceKind::cuda && !arguments.has("no-baseline")) {
    tuning.baselines = plugins.baselines(target.name);
  }
  bool is_whole = !tune(target, devices, &store, tuning, callbacks).interrupted;
  std::vector<std::string> candidates;
  if (is_whole) candidates = candidates_of(places_of(task), limit);
  is_whole = is_whole && time_candidates(task, candidates);
  if (!is_whole) {
    display.warn("interrupted: every trial is kept; the same command continues from here");
    return kInterrupted;
  }
  if (is_stable) return keep_bits(task, timed(task, std::move(candidates)), arguments);
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

const Option kBitsOption{
    "bits", "B",   "stable: rows of a product keep their bits, whatever M and batch are",
    {},     false, "stable"};

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

`--bits stable` chooses otherwise. Sizes that differ in M and batch only get configurations of one
reduction class: the fastest of each size in the class that costs least over all. So a row of the
output has the same bits whatever M is ([lock.md](lock.md#bits)). Candidates are then within 25 % of
each size's fastest.)",
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
