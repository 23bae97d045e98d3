// SPDX-License-Identifier: Apache-2.0
// autotune db: its actions; check, compact and retract.
#include <algorithm>
#include <array>
#include <iostream>
#include <set>

#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/db_export.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// A pin is for one device and one choice of settings.
void expect_one_place(const std::vector<db::TunedEntry>& places) {
  const db::TunedEntry& like = places.front();
  for (const db::TunedEntry& entry : places) {
    if (entry.device.id != like.device.id) {
      throw UsageError(format("{} is tuned on {} and {}: name one with --device",
                              like.kernel.target, like.device.name, entry.device.name));
    }
    if (problem_of(entry).settings != problem_of(like).settings) {
      throw UsageError(format("{} is tuned with {} and {}: name one with --set", like.kernel.target,
                              to_text(problem_of(like).settings),
                              to_text(problem_of(entry).settings)));
    }
  }
}

/// The target that a pin is checked against.
const Target& target_to_pin(AnswerJudge& judge, const db::TunedEntry& like) {
  const std::string& name = like.kernel.target;
  if (!judge.target_called(name)) {
    throw Error(
        format("{}: a pin is checked against the target's manifest: name it with --target", name));
  }
  if (const Target* const target = judge.target_of(like)) return *target;
  throw Error(format("{} has changed since it was tuned: tune it again before you pin", name));
}

/// The configuration with all values in the target's order; nullopt if one is missing.
std::optional<NamedValues> in_order(const NamedValues& given, const Target& target) {
  NamedValues all;
  for (const Parameter& parameter : target.parameters) {
    const Value* const value = find_value(given, parameter.name);
    if (!value) return std::nullopt;
    all.push_back({parameter.name, *value});
  }
  return all;
}

/// The entry of `like` for each problem of --size.
std::vector<db::TunedEntry> entries_to_pin(const Arguments& arguments, AnswerJudge& judge,
                                           const db::TunedEntry& like) {
  std::vector<db::TunedEntry> entries;
  for (NamedValues problem : asked_sizes(arguments, judge, like.kernel)) {
    for (const NamedValue& setting : problem_of(like).settings) problem.push_back(setting);
    entries.emplace_back(like).best.key.problem = to_text(problem);
  }
  return entries;
}

/// The only configuration with the given values that was found correct for one of the problems or
/// is what programs get there, because query leaves out parameters without a meaning. A
/// configuration with every parameter need not have been tried.
NamedValues whole_configuration(const Arguments& arguments, const NamedValues& given,
                                const Target& target, const db::TunedStore& store,
                                AnswerJudge& judge, const std::vector<db::TunedEntry>& entries) {
  for (const NamedValue& each : given) parameter_called(target, each.name);
  const std::string foreign = foreign_part(target, given);
  if (!foreign.empty()) throw UsageError("--config: " + foreign);
  if (const auto whole = in_order(given, target)) return *whole;
  std::set<std::string> found;
  const auto take = [&](std::string_view configuration) {
    const std::string text(configuration);
    if (has_all(parse_named_values(text), given)) found.insert(text);
  };
  ProgramAnswers programs(arguments, judge);
  for (const db::TunedEntry& entry : entries) {
    for (const db::TrialRow& trial : store.standing(entry.best.key)) {
      if (trial.outcome == "ok") take(trial.configuration);
    }
    take(programs.find(entry, problem_of(entry).sizes).answer.configuration);
  }
  if (found.size() == 1) return parse_named_values(*found.begin());
  throw UsageError(
      format("--config \"{}\" matches {} of the configurations that were found correct: give every "
             "parameter, such as {}",
             to_text(given), found.empty() ? "none" : std::to_string(found.size()),
             found.empty() ? to_text(target.default_configuration) : *found.begin()));
}

void expect_valid(AnswerJudge& judge, const std::vector<db::TunedEntry>& pinned) {
  for (const db::TunedEntry& entry : pinned) {
    const std::string complaint = judge.complaint(entry);
    if (complaint.empty()) continue;
    throw UsageError(format("--config: {}: {}", entry.best.key.problem, complaint));
  }
}

/// A pin of a configuration that failed would be no answer.
void expect_unrefuted(const db::TunedStore& store, const std::vector<db::TunedEntry>& pinned) {
  for (const db::TunedEntry& entry : pinned) {
    const auto is_right = [&](const db::TrialRow& trial) {
      return trial.configuration == entry.best.configuration && trial.outcome == "ok";
    };
    if (std::ranges::any_of(store.standing(entry.best.key), is_right)) continue;
    for (const db::TrialRow& trial : store.history(entry.best.key)) {
      const bool is_it = trial.configuration == entry.best.configuration;
      if (!is_it || trial.outcome == "ok" || trial.outcome == "pruned") continue;
      throw UsageError(
          format("--config: it failed for {} ({}: {}): tune it again with --retune "
                 "before you pin it",
                 entry.best.key.problem, trial.outcome, trial.message));
    }
  }
}

/// pin and unpin.
int run_pin(const Arguments& arguments) {
  arguments.text("target");  // required
  const bool takes_back = arguments.positional()[0] == "unpin";
  NamedValues configuration;
  if (!takes_back) {
    configuration = named_values_in(words_of(arguments.text("config")), "--config: ", "BM=64");
  }
  db::TunedStore store = open_present_store(arguments);
  const LeftOutWarning warning(store);
  const std::vector<db::TunedEntry> places = entries_of_each_place(arguments, store);
  expect_one_place(places);
  const db::TunedEntry& like = places.front();
  Plugins plugins(arguments);
  AnswerJudge judge(arguments, [&](const std::string& name) { return plugins.find_target(name); });
  std::vector<db::TunedEntry> pinned = entries_to_pin(arguments, judge, like);
  if (!takes_back) {
    const Target& target = target_to_pin(judge, like);
    configuration = whole_configuration(arguments, configuration, target, store, judge, pinned);
  }
  for (db::TunedEntry& entry : pinned) entry.best.configuration = to_text(configuration);
  if (!takes_back) {
    expect_valid(judge, pinned);
    expect_unrefuted(store, pinned);
  }
  for (const db::TunedEntry& entry : pinned) {
    const std::optional<db::BestRow> before = store.best(entry.best.key);
    const bool was_pinned = before && before->provenance == "pinned";
    if (!takes_back || was_pinned || !before) {  // a damaged answer may be of a pin
      store.pin({.id = "",
                 .key = entry.best.key,
                 .configuration = entry.best.configuration,
                 .note = arguments.find("note").value_or(""),
                 .created_at = db::now_text()});
    }
    const Readable readable(judge.target_called(like.kernel.target), entry.best.key.problem,
                            like.device);
    std::cout << format("{} {} on {}: {}\n", like.kernel.target, readable.problem(),
                        like.device.name,
                        !takes_back  ? "pinned to " + entry.best.configuration
                        : was_pinned ? "no longer pinned"
                                     : "was not pinned");
  }
  return kDone;
}

int check(const Arguments& arguments) {
  const db::TunedStore store = open_store(arguments, db::Mode::read_only);
  const db::CheckReport report = store.check();
  for (const std::string& damage : report.damage) std::cout << damage << '\n';
  std::cout << (report.damage.empty()
                    ? format("{}: {} rows, all as they were stored\n", store.path().string(),
                             report.rows)
                    : format("{}: {} faults in {} rows; import it into a new database to keep the "
                             "good rows\n",
                             store.path().string(), report.damage.size(), report.rows));
  return report.damage.empty() ? kDone : kFailed;
}

int compact(const Arguments& arguments) {
  db::TunedStore store = open_present_store(arguments);
  const LeftOutWarning warning(store);
  const auto before = std::filesystem::file_size(store.path());
  store.rebuild_best();
  store.compact();
  std::cout << format(
      "{}: {} before, {} now\n", store.path().string(),
      bytes_text(static_cast<std::int64_t>(before)),
      bytes_text(static_cast<std::int64_t>(std::filesystem::file_size(store.path()))));
  return kDone;
}

int retract(const Arguments& arguments) {
  if (arguments.positional().size() != 2) {
    throw UsageError("db retract needs one id: autotune db retract ID --reason TEXT");
  }
  const std::string& id = arguments.positional()[1];
  const std::string reason = arguments.text("reason");
  db::TunedStore store = open_present_store(arguments);
  const std::vector<db::ProblemKey> touched = store.retract(id, reason);
  std::cout << format("{}: {} is retracted\n", store.path().string(), id);
  for (const db::ProblemKey& key : touched) {
    const auto best = store.best(key);
    std::cout << format("{}: the best is now {}\n", key.problem,
                        best ? best->configuration : "unknown");
  }
  return kDone;
}

struct Action {
  std::string_view name;
  int (*run)(const Arguments& arguments);
  bool takes_words = false;
};

constexpr std::array kActions{Action{"export", run_export},
                              Action{"import", run_import, true},
                              Action{"merge", run_import, true},
                              Action{"convert", run_convert_names},
                              Action{"check", check},
                              Action{"compact", compact},
                              Action{"pin", run_pin},
                              Action{"unpin", run_pin},
                              Action{"retract", retract, true}};

int run_db(const Arguments& arguments) {
  const std::string& name = arguments.positional()[0];
  const Action& action = *std::ranges::find(kActions, name, &Action::name);
  if (!action.takes_words && arguments.positional().size() > 1) {
    throw UsageError(
        format("db {} does not know what to do with \"{}\": name the database with --db", name,
               arguments.positional()[1]));
  }
  return action.run(arguments);
}

}  // namespace

const Verb kDb{
    .name = "db",
    .synopsis = "export|import|merge|convert|check|compact|pin|unpin|retract [FILE…] [--db FILE]",
    .summary =
        "Export, import, merge, convert, check or compact the database; pin a configuration; "
        "retract a fact",
    .details =
        R"(* `export` writes `--format` jsonl (every fact, one JSON object a line, in canonical order), cpp
  (the answers as a C++ header) or sqlite. t4 (T4 results) and kt (Kernel Tuner's cache of 1.5.0)
  have the trials of one problem: `--target`, `--size`, and `--device`, `--set` or `--context` if
  several fit. A `lower_bound` beside a time says that timing stopped early.
* `export --format cpp --embed --target T` compiles the answers and writes a header with a lookup
  function, the cubins, and launch code ([database.md](database.md)).
* `export --format source --target T --size S` writes one answer as a CUDA source with its kernels,
  values and launches, which nvcc compiles without any other file ([database.md](database.md)). With
  `--output DIR` it also writes a header and a test, and prints the command that builds them.
* `import` and `merge` add the content of FILEs, which are JSON lines or databases. They never
  overwrite. Order and repetition do not matter.
* `convert` gives facts of targets that have another name or more sizes now today's names, as import
  and merge do on the way ([database.md](database.md)).
* `check` compares every row with its id.
* `compact` derives the answers again and gives free pages back to the file system.
* `pin` makes `--config` the answer for a size until `unpin`. Values that `query` does not show may
  be left out. It refuses a configuration that is not valid for that size; `import` keeps one, but
  no answer uses it.
* `retract ID --reason TEXT` takes a fact out of all answers, here and in every database that this
  one is merged into. Retracting a session also retracts its trials and decisions. `check` and
  `query --json` show ids.)",
    .options = {{"db", "FILE", "The database"},
                {"format", "F", "export: jsonl, cpp, sqlite, t4, kt, source", "jsonl", false,
                 "jsonl cpp sqlite t4 kt source"},
                {"output", "FILE",
                 "export: write to this file instead of stdout; source: into this folder"},
                {"target", "T",
                 "pin: the target; export: only this one; import, convert: its manifest"},
                {"device", "NAME", "pin, export: only this device"},
                {"embed", "", "export cpp: with cubins and launch code"},
                {"size", "S", "pin, export t4, kt, source, --embed: a problem, as for tune"},
                {"set", "NAME=VALUE",
                 "pin, export t4, kt, source, --embed: a setting of the problem, such as dtype=f64",
                 "", true},
                kContextOption,
                kPluginOption,
                {"config", "TEXT", "pin: the configuration, \"BM=64 BN=64 …\""},
                {"note", "TEXT", "pin: why"},
                {"reason", "TEXT", "retract: why"}},
    .positional = "ACTION",
    .words = "export import merge convert check compact pin unpin retract",
    .run = run_db};

}  // namespace autotune::cli
