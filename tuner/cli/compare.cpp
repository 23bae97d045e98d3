// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/cover.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <set>
#include <stdexcept>

#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {

// autotune compare: how each winner does on the other problems and devices, and how few
// configurations serve all of them.

double limit_of(const Arguments& arguments) {
  const std::string text = arguments.text("within");
  try {
    std::size_t read = 0;
    const double percent = std::stod(text, &read);
    const bool is_whole = read == text.size() || text.substr(read) == "%";
    if (is_whole && percent >= 0 && percent <= 1000) return 1 + percent / 100;
  } catch (const std::logic_error&) {  // no number
  }
  throw UsageError(format("--within {}: give percent from 0 to 1000, such as 3%", text));
}

std::map<std::string, double> trial_ratios(const db::TunedStore& store, const db::TunedEntry& entry,
                                           double limit) {
  std::map<std::string, double> ratios;
  std::set<std::string> bounds;  // pruned: the time is a lower bound
  for (const db::TrialRow& row : store.standing(entry.best.key)) {
    if (row.stage != "search") continue;
    const bool is_timed = (row.outcome == "ok" || row.outcome == "pruned") && row.median_ns;
    ratios[row.configuration] = is_timed ? *row.median_ns : kUnserved;
    bounds.erase(row.configuration);
    if (row.outcome == "pruned") bounds.insert(row.configuration);
  }
  double best = kUnserved;
  for (const auto& [configuration, ns] : ratios) best = std::min(best, ns);
  for (auto& [configuration, ratio] : ratios) {
    if (std::isfinite(best)) ratio /= best;  // else all fail
    if (bounds.contains(configuration) && ratio <= limit) ratio = kUnserved;
  }
  const bool by_time = db::stored_policy(entry.best.key.policy).is_by_time;
  const bool is_decided = entry.best.decided && entry.best.provenance != "pinned";
  if (!ratios.empty() && is_decided && by_time)
    ratios[entry.best.configuration] = 1;  // by the playoff
  return ratios;
}

namespace {

/// One tuned problem on one device, with the time of each configuration there.
struct Place {
  db::TunedEntry entry;
  std::string name;
  std::map<std::string, double> ratios;  // over the fastest; infinity for one that fails
};

struct Comparison {
  std::vector<Place> places;
  std::vector<std::string> candidates;  // configurations
  Cover cover;
};

Readable readable(AnswerJudge& judge, const db::TunedEntry& entry) {
  return {judge.target_called(entry.kernel.target), entry.best.key.problem, entry.device};
}

std::vector<Place> places_of(const Arguments& arguments, AnswerJudge& judge, double limit) {
  arguments.text("target");
  Databases databases(arguments, judge);
  std::vector<Answer> answers = databases.answers();
  std::erase_if(answers, [](const Answer& answer) { return !answer.is_stored; });
  std::set<std::string> policies;
  for (const Answer& answer : answers) policies.insert(answer.entry.best.key.policy);
  std::vector<Place> places;
  for (const Answer& answer : answers) {
    const db::TunedEntry& entry = answer.entry;
    const std::string& policy = entry.best.key.policy;
    Place place{entry, format("{} on {}", readable(judge, entry).problem(), entry.device.name),
                trial_ratios(databases.store_of(answer), entry, limit)};
    if (policies.size() > 1 || db::is_of_other_tuner(policy)) place.name += format(" ({})", policy);
    if (!place.ratios.empty()) places.push_back(std::move(place));
  }
  if (places.size() < 2) {
    throw Error(format("{}: compare needs trials of two problems or devices of {}; it has {}",
                       database_path(arguments).string(), arguments.text("target"), places.size()));
  }
  return places;
}

Comparison compare(std::vector<Place> places, double limit) {
  std::set<std::string> candidates;
  for (const Place& place : places) {
    for (const auto& [configuration, ratio] : place.ratios) {
      if (ratio <= limit) candidates.insert(configuration);
    }
  }
  Comparison result{std::move(places), {candidates.begin(), candidates.end()}, {}};
  result.cover = smallest_cover(ratio_rows(result.candidates, result.places), limit);
  return result;
}

/// `1.043x`, `fails` or `not tried`.
std::string ratio_text(const std::string& configuration, const Place& place) {
  const auto found = place.ratios.find(configuration);
  if (found == place.ratios.end()) return "not tried";
  return std::isfinite(found->second) ? format("{:.3f}x", found->second) : "fails";
}

void print(const Comparison& comparison, AnswerJudge& judge, double limit) {
  for (const Place& place : comparison.places) {
    std::cout << format("{}: {}\n", place.name,
                        readable(judge, place.entry).configuration(place.entry.best.configuration));
    for (const Place& other : comparison.places) {
      if (&other == &place) continue;
      std::cout << format("  {:>9}  {}\n", ratio_text(place.entry.best.configuration, other),
                          other.name);
    }
  }
  const std::size_t count = comparison.cover.chosen.size();
  std::cout << format("{} configuration{} serve{} all {} within {:g} %{}\n", count,
                      count == 1 ? "" : "s", count == 1 ? "s" : "", comparison.places.size(),
                      (limit - 1) * 100, comparison.cover.is_least ? "" : " (fewer may do)");
  for (const std::size_t chosen : comparison.cover.chosen) {
    const std::string& configuration = comparison.candidates[chosen];
    const db::TunedEntry& first = comparison.places.front().entry;
    std::cout << format("  {}\n", readable(judge, first).configuration(configuration));
    for (const Place& place : comparison.places) {
      std::cout << format("    {:>9}  {}\n", ratio_text(configuration, place), place.name);
    }
  }
}

/// null: it fails, or was not tried.
Json ratios_json(const std::string& configuration, const Comparison& comparison) {
  Json ratios = Json::array();
  const auto rows = ratio_rows({configuration}, comparison.places);
  for (const double ratio : rows.front()) {
    ratios.push_back(std::isfinite(ratio) ? Json(ratio) : Json());
  }
  return ratios;
}

Json comparison_json(const Comparison& comparison) {
  Json json{{"places", Json::array()}, {"cover", Json::array()}};
  for (const Place& place : comparison.places) {
    json["places"].push_back({{"problem", place.entry.best.key.problem},
                              {"device", place.entry.device.name},
                              {"policy", place.entry.best.key.policy},
                              {"config", place.entry.best.configuration},
                              {"ratios", ratios_json(place.entry.best.configuration, comparison)}});
  }
  for (const std::size_t chosen : comparison.cover.chosen) {
    const std::string& configuration = comparison.candidates[chosen];
    json["cover"].push_back(
        {{"config", configuration}, {"ratios", ratios_json(configuration, comparison)}});
  }
  json["is_least"] = comparison.cover.is_least;
  return json;
}

int run_compare(const Arguments& arguments) {
  const double limit = limit_of(arguments);
  AnswerJudge judge(arguments);
  const Comparison comparison = compare(places_of(arguments, judge, limit), limit);
  if (arguments.has("json")) {
    std::cout << json_text(comparison_json(comparison)) << '\n';
  } else {
    print(comparison, judge, limit);
  }
  return kDone;
}

}  // namespace

const Verb kCompare{
    .name = "compare",
    .synopsis = "--target T [--size S] [--device NAME] [--within PERCENT] [--db FILE] [--json]",
    .summary = "Show how each winner does at other sizes and on other GPUs",
    .details =
        "Reads the trials of the results that `query` shows. For each tuned problem and device, it "
        "lists the winner "
        "and its time elsewhere, over the fastest there: `1.043x`, `fails` or `not tried`. Then it "
        "lists the fewest configurations that serve all of them within `--within` percent of the "
        "fastest. Only configurations that were tried count; after `tune --strategy exhaustive` or "
        "with a larger budget there are more of them.",
    .options = {{"target", "T", "A target's name or the path of a manifest"},
                {"size", "S", "Only these problems, as for tune: 512, 128..1024"},
                {"device", "NAME", "Only this device"},
                {"set", "NAME=VALUE", "Only problems with this setting, such as dtype=f64", "",
                 true},
                kContextOption,
                {"within", "PERCENT", "How much slower than the fastest may be", "5%"},
                {"db", "FILE", "The database"},
                {"json", "", "Print JSON"}},
    .positional = {},
    .run = run_compare};

namespace {

/// A column to sort by, in ascending order of `rank`.
struct Column {
  std::string_view name;
  double (*rank)(const db::TrialRow& trial);
};

constexpr std::array<Column, 4> kColumns{{
    {"time", [](const db::TrialRow& trial) { return trial.median_ns.value_or(kUnserved); }},
    {"registers",
     [](const db::TrialRow& trial) {
       return trial.registers ? static_cast<double>(*trial.registers) : kUnserved;
     }},
    {"occupancy",
     [](const db::TrialRow& trial) { return trial.occupancy ? -*trial.occupancy : kUnserved; }},
    {"compile", [](const db::TrialRow& trial) { return trial.compile_seconds; }},
}};

template <class T>
std::string text_or_dash(const std::optional<T>& value, double factor = 1) {
  return value ? format("{:.4g}", factor * static_cast<double>(*value)) : "-";
}

}  // namespace

std::vector<db::TrialRow> sorted_trials(std::vector<db::TrialRow> trials, const std::string& column,
                                        std::size_t most) {
  const Column& by = *std::ranges::find(kColumns, column, &Column::name);
  std::map<std::string, db::TrialRow> latest;
  for (db::TrialRow& trial : trials) {
    if (trial.outcome != "ok" || !trial.median_ns) continue;
    std::string configuration = trial.configuration;
    latest[std::move(configuration)] = std::move(trial);
  }
  std::vector<db::TrialRow> sorted;
  for (auto& [configuration, trial] : latest) sorted.push_back(std::move(trial));
  std::ranges::stable_sort(sorted, {}, [&](const db::TrialRow& trial) {
    return std::pair(by.rank(trial), *trial.median_ns);
  });
  sorted.resize(std::min(most, sorted.size()));
  return sorted;
}

std::string trials_text(const std::vector<db::TrialRow>& trials, const Readable& readable) {
  std::string text = format("{:>10} {:>9} {:>9} {:>10}  configuration\n", "time", "registers",
                            "occupancy", "compile");
  for (const db::TrialRow& trial : trials) {
    const std::string occupancy = trial.occupancy ? text_or_dash(trial.occupancy, 100) + " %" : "-";
    text += format("{:>10} {:>9} {:>9} {:>10}  {}\n", time_text(*trial.median_ns * kNanosecond),
                   text_or_dash(trial.registers), occupancy,
                   trial.compile_seconds > 0 ? time_text(trial.compile_seconds) : "-",
                   readable.configuration(trial.configuration));
  }
  return text;
}

Json trials_json(const std::vector<db::TrialRow>& trials) {
  Json all = Json::array();
  for (const db::TrialRow& trial : trials) {
    all.push_back({{"config", json_of(parse_named_values(trial.configuration))},
                   {"median_ns", *trial.median_ns},
                   {"registers", json_of(trial.registers)},
                   {"shared_bytes", json_of(trial.shared_bytes)},
                   {"occupancy", json_of(trial.occupancy)},
                   {"compile_seconds", trial.compile_seconds}});
  }
  return all;
}

}  // namespace autotune::cli
