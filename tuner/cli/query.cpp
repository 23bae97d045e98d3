// SPDX-License-Identifier: Apache-2.0
// autotune query: the best configuration, how certain it is, and how it was found.
#include <cmath>
#include <iostream>
#include <optional>
#include <sstream>

#include "tuner/answer/lookup_answer.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/cover.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/json/json.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// Predicted by the cost model, so without interval and noise.
bool is_predicted(const db::BestRow& best) { return best.provenance == "predicted"; }

/// `9.170 us [9.160 us, 9.180 us], 29.27 TFLOP/s, 3.27x the default`.
std::string figures_of(const db::BestRow& best) {
  if (!best.median_ns) return "never timed";
  std::string text = time_text(*best.median_ns * kNanosecond);
  if (is_predicted(best)) {
    text += " predicted";
  } else if (best.low_ns && best.high_ns) {
    text += format(" [{}]", interval_text(measurement_of(best)));
  }
  if (best.gflops) text += ", " + rate_text(*best.gflops * 1e9);
  if (best.default_ns) text += format(", {:.2f}x the default", *best.default_ns / *best.median_ns);
  return text;
}

std::string provenance_of(const db::TunedEntry& entry) {
  const db::BestRow& best = entry.best;
  std::string text = format("{} {} {}", best.provenance, best.created_at.substr(0, 10),
                            best.created_at.size() > 16 ? best.created_at.substr(11, 5) : "");
  if (!best.decided) text += ", the leader of an unfinished run";
  if (best.samples > 0) text += ", " + count_text(static_cast<std::size_t>(best.samples), "sample");
  text += best.verified ? ", verified" : ", not verified";
  const db::SessionRow& session = entry.session;
  if (!session.tool_version.empty()) text += "; autotune " + session.tool_version;
  if (!session.strategy.empty()) text += ", " + session.strategy;
  if (!session.environment.empty()) text += ", " + session.environment;
  return text;
}

/// One configuration a line; the first continues the current line.
std::string ties_text(const std::string& ties, const Readable& readable) {
  std::string text;
  std::istringstream lines(ties);
  for (std::string line; std::getline(lines, line);) {
    text += (text.empty() ? "" : "         ") + readable.configuration(line) + '\n';
  }
  return text;
}

/// `12.5 mJ a call; the default uses 13.4 mJ`.
std::string energy_of(const db::BestRow& best) {
  std::string text = format("{:.4g} mJ a call", *best.joules * 1e3);
  if (best.default_joules) {
    text += format("; the default uses {:.4g} mJ", *best.default_joules * 1e3);
  }
  return text;
}

void print_refuted_pin(const Answer& answer, const Readable& readable) {
  std::cout << format("pin      {} is left out, because it failed for this problem\n",
                      readable.configuration(answer.refuted_pin));
}

/// Where nothing is stored for the problem.
void print_chosen(const Arguments& arguments, const Target& target, const Answer& answer,
                  const Readable& readable) {
  const TargetLookup& lookup = *answer.given.lookup;
  const Problem& problem = answer.given.problem;
  std::cout << format("{} {} is not tuned on {} ({})\n", answer.entry.kernel.target,
                      answer.is_away() ? problem_text(target, problem) : readable.problem(),
                      answer.entry.device.name, answer.entry.best.key.policy)
            << explanation_of(lookup.target(), problem, lookup.device(), answer.given.answer);
  if (!answer.refuted_pin.empty()) print_refuted_pin(answer, readable);
  std::cout << format("{} measures it{}\n", tune_command(arguments, target, answer.entry),
                      answer.is_away() ? " with default free sizes" : "");
}

void print(const Answer& answer, const Readable& readable, const std::string& bits) {
  const db::TunedEntry& entry = answer.entry;
  const db::BestRow& best = entry.best;
  std::cout << format("{} {} on {} ({})\n", entry.kernel.target, readable.problem(),
                      entry.device.name, best.key.policy);
  std::cout << format("best     {}: {}\n", figures_of(best),
                      readable.configuration(best.configuration));
  if (best.default_ns) {
    std::cout << format("default  {}: {}\n", time_text(*best.default_ns * kNanosecond),
                        readable.configuration(best.default_configuration));
  }
  if (best.baseline.ns) std::cout << format("baseline {}\n", baseline_text(best));
  if (best.cold_ns) {
    const bool is_cold = db::stored_policy(best.key.policy).is_cold;
    std::cout << format("L2       {} with a {} L2 cache\n", time_text(*best.cold_ns * kNanosecond),
                        is_cold ? "hot" : "cold");
  }
  if (best.joules) std::cout << "energy   " << energy_of(best) << '\n';
  if (best.noise_floor && !is_predicted(best)) {
    std::cout << format("noise    {:.2f} %{}\n", *best.noise_floor * 100,
                        *best.noise_floor > kNoisy
                            ? ": smaller differences mean nothing; end other programs, and tune "
                              "with --retune"
                            : "");
  }
  if (!bits.empty()) std::cout << "bits     " << bits << '\n';
  if (best.repeats) std::cout << "runs     " << bits_text(*best.repeats) << '\n';
  if (!best.ties.empty()) std::cout << "ties     " << ties_text(best.ties, readable);
  std::cout << "how      " << provenance_of(entry)
            << (answer.shipped ? "; shipped with autotune" : "") << '\n';
  if (!answer.note.empty()) std::cout << "note     " << answer.note << '\n';
  if (!answer.refuted_pin.empty()) print_refuted_pin(answer, readable);
  if (answer.space_changed) {
    std::cout << format(
        "space    parameters or constraints of {} have changed since; the same tune "
        "command keeps the trials and searches what is new\n",
        entry.kernel.target);
  }
  if (answer.given.lookup) std::cout << format("program  {}\n", one_line(answer.given));
  if (answer.stale) {
    std::cout
        << "stale    the kernel has changed since: programs use it only where it is still valid; "
           "tune again\n";
  }
}

Json answer_json(const Answer& answer) {
  const db::TunedEntry& entry = answer.entry;
  const db::BestRow& best = entry.best;
  Json json;
  json["target"] = entry.kernel.target;
  json["problem"] = json_of(parse_named_values(best.key.problem));
  json["exact"] = answer.is_stored;
  json["expected_ns"] = answer.given.lookup ? Json(answer.given.answer.expected_ns) : Json();
  json["factor_away"] = std::exp2(answer.given.answer.distance);
  json["device"] = {{"name", entry.device.name}, {"kind", entry.device.kind}};
  json["policy"] = best.key.policy;
  json["config"] = json_of(parse_named_values(best.configuration));
  json["median_ns"] = json_of(best.median_ns);
  json["low_ns"] = json_of(best.low_ns);
  json["high_ns"] = json_of(best.high_ns);
  json["samples"] = best.samples;
  json["gflops"] = json_of(best.gflops);
  json["default"] = {{"config", json_of(parse_named_values(best.default_configuration))},
                     {"median_ns", json_of(best.default_ns)}};
  json["ratio_to_default"] =
      best.default_ns && best.median_ns ? Json(*best.default_ns / *best.median_ns) : Json();
  json["baseline"] = baseline_json(best.baseline);
  json["program"] = program_json(answer.given);
  json["cold_ns"] = json_of(best.cold_ns);
  json["joules"] = json_of(best.joules);
  json["default"]["joules"] = json_of(best.default_joules);
  json["noise_floor"] = json_of(best.noise_floor);
  json["provenance"] = best.provenance;
  json["note"] = answer.note.empty() ? Json() : Json(answer.note);
  json["refuted_pin"] =
      answer.refuted_pin.empty() ? Json() : json_of(parse_named_values(answer.refuted_pin));
  json["decided"] = best.decided;
  json["verified"] = best.verified;
  json["repeats"] = json_of(best.repeats);
  json["tuned_at"] = best.created_at;
  json["fact"] = best.source;
  json["session"] = best.session;
  json["tool_version"] = entry.session.tool_version;
  json["strategy"] = entry.session.strategy;
  json["environment"] = entry.session.environment;
  json["fingerprint"] = entry.kernel.fingerprint;
  json["space_changed"] = answer.space_changed;
  json["shipped"] = answer.shipped;
  json["stale"] = answer.stale;
  return json;
}

/// The value of --trials. Throws UsageError.
std::size_t most_trials(const Arguments& arguments) {
  return static_cast<std::size_t>(arguments.integer("trials", 0, 1000000));
}

/// The trials to show with an answer. None without --trials or the user's database.
std::vector<db::TrialRow> trials_of(const Arguments& arguments,
                                    const std::optional<db::TunedStore>& store,
                                    const db::TunedEntry& entry) {
  const std::size_t most = most_trials(arguments);
  if (most == 0 || !store) return {};
  return sorted_trials(store->standing(entry.best.key), arguments.text("sort"), most);
}

/// Counters of the best; an empty object if it was not counted.
Json counters_of(const std::optional<db::TunedStore>& store, const Answer& answer) {
  if (!store || answer.shipped || !answer.is_stored) return Json::object();
  const db::BestRow& best = answer.entry.best;
  return counters_json(cli::figures_of(db::counters_of(*store, best.key), best.configuration));
}

/// The reduction class of the best; empty if it is not stored.
std::string class_of(const std::optional<db::TunedStore>& store, const Answer& answer) {
  if (!store || answer.shipped || !answer.is_stored) return "";
  return autotune::class_of(*store, answer.entry.best);
}

int run_query(const Arguments& arguments) {
  if (arguments.has("size")) arguments.text("target");  // names the sizes
  if (most_trials(arguments) == 0 && arguments.has("sort")) {
    throw UsageError("--sort is the order of --trials N: give --trials too");
  }
  AnswerJudge judge(arguments);
  Databases databases(arguments, judge);
  const std::vector<Answer> answers = databases.answers(FreeSizes::taken);
  if (arguments.has("json")) {
    Json json{{"db", database_path(arguments).string()}, {"results", Json::array()}};
    if (arguments.has("target")) json["target"] = answers.front().entry.kernel.target;
    for (const Answer& answer : answers) {
      json["results"].push_back(answer_json(answer));
      json["results"].back()["counters"] = counters_of(databases.own(), answer);
      const std::string bits = class_of(databases.own(), answer);
      json["results"].back()["bits"] = bits.empty() ? Json() : Json(bits);
      const auto trials = trials_of(arguments, databases.own(), answer.entry);
      if (!trials.empty()) json["results"].back()["trials"] = trials_json(trials);
    }
    std::cout << json_text(json) << '\n';
  } else {
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (i > 0) std::cout << '\n';
      const db::TunedEntry& entry = answers[i].entry;
      const Readable readable(judge.target_called(entry.kernel.target), entry.best.key.problem,
                              entry.device);
      if (answers[i].is_stored) {
        print(answers[i], readable, class_of(databases.own(), answers[i]));
      } else {
        print_chosen(arguments, *judge.target_called(entry.kernel.target), answers[i], readable);
      }
      const auto trials = trials_of(arguments, databases.own(), entry);
      if (!trials.empty()) std::cout << trials_text(trials, readable);
    }
  }
  return kDone;
}

}  // namespace

const Verb kQuery{
    .name = "query",
    .synopsis =
        "[--target T] [--size S] [--device NAME] [--set NAME=VALUE] [--trials N [--sort COLUMN]] "
        "[--db FILE] [--json]",
    .summary = "Show the best configuration, how certain it is, and how it was found",
    .details =
        "For a size that was not tuned, it shows what programs get, with the expected time and the "
        "reason, and the command that measures it. In JSON, `exact` is false there, `median_ns` is "
        "null, and `expected_ns` has the expected time. Without `--size` it shows everything that "
        "is "
        "tuned for the target. Without `--target` it shows everything in the database. A target "
        "that was tuned on "
        "several devices, or with several settings, has an answer for each. Without `--db`, "
        "results that are shipped with autotune answer where the user's database has nothing. "
        "`--size` may have free sizes, such as `512,lda=520`: no result is stored for these, and "
        "the answer is what a program gets that gives them. With `--size`, the function that "
        "libautotune calls chooses from both, for every device and "
        "policy with results, and for every setting with results of yours. If there are none, it "
        "chooses for the device that "
        "`--device` names, else for the first GPU here. The line `program` has what a program gets "
        "for these sizes: a configuration or the vendor's library. A line `stale` says that the "
        "kernel has changed since. The exit status is 1 if "
        "there is no answer.",
    .options = {{"target", "T", "A target's name or the path of a manifest"},
                {"size", "S",
                 "A problem, as for tune: 512, 1037x1031x1055, 128..1024; 512,lda=520"},
                {"device", "NAME", "Only this device"},
                {"set", "NAME=VALUE", "Only problems with this setting, such as dtype=f64", "",
                 true},
                kContextOption,
                {"trials", "N", "Show N timed trials of each problem, too", "0"},
                {"sort", "COLUMN",
                 "Sort these by time, registers, occupancy (the largest first) or compile", "time",
                 false, "time registers occupancy compile"},
                {"db", "FILE", "The database"},
                {"json", "", "Print JSON"}},
    .positional = {},
    .run = run_query};

}  // namespace autotune::cli
