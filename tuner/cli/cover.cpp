// SPDX-License-Identifier: Apache-2.0
// autotune cover: the fewest configurations that serve every size of a range.
#include "tuner/cli/cover.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "db/past_times.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/program.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {

std::vector<TunedSize> tuned_places(const CoverTask& task) {
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

namespace {

/// Everything but the curve.
Covered timed_candidates(const CoverTask& task, std::vector<std::string> candidates) {
  Covered result{tuned_places(task), std::move(candidates), {}, {}};
  result.ratios = ratio_rows(result.candidates, result.places);
  return result;
}

}  // namespace

void store_pin(const CoverTask& task, const TunedSize& place, const std::string& configuration,
               const std::string& note) {
  task.store.pin({.id = "",
                  .key = place.entry.best.key,
                  .configuration = configuration,
                  .note = note,
                  .created_at = db::now_text()});
}

Json head_of(const CoverTask& task) {
  return {{"target", task.target.name},
          {"device", task.device().name},
          {"db", task.store.path().string()}};
}

namespace {

constexpr std::size_t kMostOfEach = 12;  // candidates from one size
constexpr const char* kCandidates = "the cover's candidates";

/// Those of --sizes with each value of the setting --over.
std::vector<Problem> problems_over(const Arguments& arguments, const Target& target) {
  const std::string name = arguments.text("over");
  if (arguments.has("bits"))
    throw UsageError("--over cannot be combined with --bits: leave one out");
  std::vector<std::string> alike;
  for (const Setting& setting : target.settings) {
    if (!setting.alike.empty()) alike.push_back(setting.name);
  }
  const auto setting = std::ranges::find(target.settings, name, &Setting::name);
  if (setting == target.settings.end() || setting->alike.empty()) {
    throw UsageError(format("--over {} is no setting of {} with alike values ({})", name,
                            target.name, alike.empty() ? "it has none" : suggestion(name, alike)));
  }
  const NamedValues settings = settings_of(arguments);
  if (find_value(settings, name))
    throw UsageError(format("--over {0} takes all its values: leave out --set {0}", name));
  std::vector<Problem> problems;
  for (const NamedValues& sizes :
       sizes_in(arguments.find("sizes").value_or(example_sizes(target)), target)) {
    for (const Value& value : setting->alike) {
      NamedValues chosen = settings;
      chosen.push_back({name, value});
      problems.push_back(problem_of(target, sizes, chosen));
    }
  }
  return problems;
}

TuningRequest cover_request(const Arguments& arguments, const Target& target, DeviceKind kind) {
  TuningRequest request;
  request.problems = problems_of(arguments, target);
  if (arguments.has("over")) request.problems = problems_over(arguments, target);
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
  TuningRequest request = task.request;
  request.strategy = format("{} of {}", kCandidates, request.problems.front().text());
  add_strategy({request.strategy, "times a list",
                [list] { return std::make_unique<ListedConfigurations>(list); }});
  request.budget = {Budget::Kind::evaluations, static_cast<double>(list.size())};
  request.budget_text = std::to_string(list.size());
  request.partial = true;
  return !tune(task.target, task.devices, &task.store, request, task.callbacks).interrupted;
}

/// Times the fastest few of each size over the values of a setting, at its problems only. False if
/// interrupted.
bool time_over(const CoverTask& task, std::vector<std::string>& candidates) {
  std::set<std::string> all;
  const std::vector<TunedSize> places = tuned_places(task);
  for (const auto& [sizes, numbers] : groups_by_size(task.target, places)) {
    CoverTask own = task;
    own.request.problems.clear();
    for (const std::size_t i : numbers) own.request.problems.push_back(places[i].problem);
    const std::vector<std::string> here = candidates_of(tuned_places(own), task.limit);
    if (!time_candidates(own, here)) return false;
    all.insert(here.begin(), here.end());
  }
  candidates.assign(all.begin(), all.end());
  return true;
}

Covered covered(const CoverTask& task, std::vector<std::string> candidates) {
  Covered result = timed_candidates(task, std::move(candidates));
  result.curve = trade_off(result.ratios, task.limit);
  if (result.curve.empty()) {
    throw Error(
        format("{}: no choice of the configurations that were timed serves every size: "
               "raise --budget or --within",
               task.target.name));
  }
  return result;
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
  Json document = head_of(task);
  document["within"] = std::round((task.limit - 1) * 1e6) / 1e6;
  document["sizes"] = result.places.size();
  document["curve"] = std::move(curve);
  document["cover"] = std::move(cover);
  return document;
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
  const bool is_over = arguments.has("over");
  if ((bits || is_over) && !arguments.has("within")) limit = kWideLimit;
  db::TunedStore store(database_path(arguments));
  const LeftOutWarning warning(store);
  const auto devices = open_devices(arguments.text("device"), compile_limit_of(arguments));
  const DeviceInfo& info = devices.front()->info();
  if (!devices.front()->runs()) {
    throw UsageError(format(
        "cover times kernels, which {} cannot run: name a GPU or host with --device", info.name));
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
      target,    devices,        store, limit, cover_request(arguments, target, info.kind),
      callbacks, bits || is_over};
  TuningRequest tuning = task.request;
  tuning.answer_today =
      answers_today(arguments, target, info, key_text(tuning.policy), store.path());
  if (!arguments.has("no-baseline")) {
    tuning.baselines = plugins.baselines(target.name, info.kind);
  }
  bool is_whole = !tune(for_speed(target), devices, &store, tuning, callbacks).interrupted;
  if (is_whole && bits && bits->library) {
    return take_bits_of(task, *bits->library, tuned_places(task), arguments);
  }
  std::vector<std::string> candidates;
  ClassesAtPlaces classes(task);
  is_whole = is_whole && (!bits || search_classes(task, *bits, classes));
  if (is_over) {
    is_whole = is_whole && time_over(task, candidates);
  } else if (is_whole) {
    candidates = bits ? candidates_by_class(task, *bits, tuned_places(task), classes)
                      : candidates_of(tuned_places(task), limit);
  }
  is_whole = is_whole && (is_over || candidates.empty() || time_candidates(task, candidates));
  if (!is_whole) {
    display.warn("interrupted: every trial is kept; the same command continues from here");
    return kInterrupted;
  }
  if (bits) {
    return keep_bits(task, timed_candidates(task, std::move(candidates)), *bits, classes,
                     arguments);
  }
  if (is_over) return keep_one_over(task, timed_candidates(task, candidates), arguments);
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
then 1.

`--over draw` tunes each size with all values of a setting that are alike, such as the draws of
gemm_grouped, and pins one configuration for them: that with the least worst loss over these values,
among the fastest of each. Without `--within`, these are within ten times the fastest. Programs get it
with any value of the setting. `autotune tune` has both options, too. Their documents have `groups` in
place of the cover: `{"over": "draw", "mean_ratio": 1.004, "worst_ratio": 1.01, "serves": [{"problem":
{"M": 1, …}, "config": {"BM": 16, …}, "ratio": 1.01}, …]}`, or `"bits"` with the class.)",
    .options = {{"target", "T",
                 "A target's name (autotune list targets) or the path of a manifest"},
                {"sizes", "S", "The sizes, as for tune: M=1..64*2,N=512,K=512"},
                {"within", "PERCENT", "How much slower than each size's fastest may be", "3%"},
                kBitsOption,
                kOverOption,
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
