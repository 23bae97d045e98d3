// SPDX-License-Identifier: Apache-2.0
// autotune db: export, import, merge, check, compact, pin, retract.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <set>

#include "db/exchange.hpp"
#include "tuner/cli/output_file.hpp"
#include "tuner/cli/request.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/core/error.hpp"
#include "tuner/file/replace_file.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// For what changes a database: where the name is mistyped, none is made.
db::TunedStore open_present_store(const Arguments& arguments) {
  const bool missing = !std::filesystem::exists(database_path(arguments));
  return open_store(arguments, missing ? db::Mode::read_only : db::Mode::read_write);
}

/// The files behind the action's name.
std::vector<std::string> files_of(const Arguments& arguments) {
  const auto& words = arguments.positional();
  if (words.size() < 2) {
    throw UsageError(format("db {} needs a file: autotune db {} FILE…", words[0], words[0]));
  }
  return {words.begin() + 1, words.end()};
}

/// Returns how many damaged rows are left out.
std::int64_t write_export(const Arguments& arguments, const db::TunedStore& store,
                          const std::string& format_name, std::ostream& out) {
  const db::TunedFilter filter{arguments.find("device").value_or(""), target_name(arguments), "",
                               ""};
  if (format_name == "jsonl") return db::export_json_lines(store, out);
  if (format_name == "best") {
    db::export_best_json_lines(store, filter, out);
  } else {
    db::export_header(store, filter, out);
  }
  return static_cast<std::int64_t>(store.left_out().size());
}

/// What is in the file already stays. Returns how many damaged rows are left out.
std::int64_t write_database(const db::TunedStore& store, const std::filesystem::path& file) {
  std::error_code missing;
  if (std::filesystem::equivalent(file, store.path(), missing)) {
    throw UsageError(
        format("{}: is the database that is exported: name another file", file.string()));
  }
  std::int64_t damaged = 0;
  const auto add = [&](db::TunedStore& copy, const db::TunedStore& from) {
    const db::ImportReport report = db::merge(copy, from);
    warn_of(report.refused);
    damaged += static_cast<std::int64_t>(report.refused.size());
  };
  replace_file(file, [&](const std::filesystem::path& aside) {
    db::TunedStore copy(aside);
    if (std::filesystem::exists(file)) add(copy, db::TunedStore(file, db::Mode::read_only));
    add(copy, store);
  });
  return damaged;
}

int run_export(const Arguments& arguments) {
  static const std::vector<std::string> kFormats{"jsonl", "best", "cpp", "sqlite"};
  const std::string format_name = arguments.text("format");
  if (std::find(kFormats.begin(), kFormats.end(), format_name) == kFormats.end()) {
    throw UsageError(
        format("there is no format \"{}\": {}", format_name, suggestion(format_name, kFormats)));
  }
  const db::TunedStore store = open_store(arguments, db::Mode::read_only);
  const bool whole = format_name == "jsonl" || format_name == "sqlite";
  if (whole && (arguments.has("target") || arguments.has("device"))) {
    throw UsageError(format(
        "--format={} holds every fact; use --format=best with --target or --device", format_name));
  }
  const auto output = arguments.find("output");
  std::int64_t damaged = 0;
  if (format_name == "sqlite") {
    if (!output) throw UsageError("--format=sqlite needs --output FILE");
    damaged = write_database(store, *output);
  } else if (output) {
    write_output(*output, [&](std::ostream& file) {
      damaged = write_export(arguments, store, format_name, file);
    });
  } else {
    damaged = write_export(arguments, store, format_name, std::cout);
  }
  if (damaged == 0) return kDone;
  std::cerr << format("warning: {}: {} damaged rows are left out: autotune db check tells which\n",
                      store.path().string(), damaged);
  return kFailed;
}

db::ImportReport import_file(db::TunedStore& store, const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    throw Error(format("{}: cannot be read: {}; name a file that db export wrote", file, why));
  };
  const std::string why = why_unreadable(file, std::numeric_limits<std::uint64_t>::max());
  if (!why.empty()) refuse(why);
  if (is_database(file)) return db::merge(store, db::TunedStore(file, db::Mode::read_only));
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(std::strerror(errno));
  return db::import_json_lines(store, stream, file);
}

int run_import(const Arguments& arguments) {
  const std::vector<std::string> files = files_of(arguments);
  db::TunedStore store = open_store(arguments, db::Mode::read_write);
  bool all_well = true;
  for (const std::string& file : files) {
    const db::ImportReport report = import_file(store, file);
    warn_of(report.refused);
    std::cout << format("{}: {} rows added, {} were there already, {} refused\n", file,
                        report.added, report.present, report.refused.size());
    all_well = all_well && report.refused.empty();
  }
  return all_well ? kDone : kFailed;
}

int run_check(const Arguments& arguments) {
  const db::TunedStore store = open_store(arguments, db::Mode::read_only);
  const db::CheckReport report = store.check();
  for (const std::string& damage : report.damage) std::cout << damage << '\n';
  std::cout << (report.damage.empty()
                    ? format("{}: {} rows, all as they were stored\n", store.path().string(),
                             report.rows)
                    : format("{}: {} faults in {} rows; import it into a new database to keep what "
                             "is good\n",
                             store.path().string(), report.damage.size(), report.rows));
  return report.damage.empty() ? kDone : kFailed;
}

int run_compact(const Arguments& arguments) {
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

/// The one correct configuration of the nearest problems that has the given values; query leaves
/// out what means nothing in one. A configuration with every parameter need not have been tried.
NamedValues whole_configuration(const NamedValues& given, const db::TunedStore& store,
                                const std::vector<Nearest>& nearest) {
  const db::TunedEntry& like = nearest.front().entry;
  const std::string& example = like.best.configuration;
  std::vector<std::string> known;
  for (const NamedValue& item : parse_named_values(example)) known.push_back(item.name);
  for (const NamedValue& item : given) {
    if (std::find(known.begin(), known.end(), item.name) == known.end()) {
      throw UsageError(format("--config: {} has no parameter \"{}\": {}", like.kernel.target,
                              item.name, suggestion(item.name, known)));
    }
  }
  const auto is_given = [&](const std::string& name) { return find_value(given, name); };
  if (std::all_of(known.begin(), known.end(), is_given)) return given;
  std::set<std::string> found;
  for (const Nearest& near : nearest) {
    for (const db::TrialRow& trial : store.trials(near.entry.best.key)) {
      const bool correct = trial.outcome == "ok";
      if (correct && has_all(parse_named_values(trial.configuration), given)) {
        found.insert(trial.configuration);
      }
    }
  }
  if (found.size() == 1) return parse_named_values(*found.begin());
  throw UsageError(
      format("--config \"{}\" fits {} of the configurations that were found correct: give every "
             "parameter, such as {}",
             to_text(given), found.empty() ? "none" : std::to_string(found.size()),
             found.empty() ? example : *found.begin()));
}

/// Each problem that was asked for, once.
std::vector<NamedValues> asked_by(const std::vector<Nearest>& nearest) {
  std::vector<NamedValues> asked;
  for (const Nearest& near : nearest) {
    if (asked.empty() || asked.back() != near.asked) asked.push_back(near.asked);
  }
  return asked;
}

int run_pin(const Arguments& arguments) {
  arguments.text("target");  // a pin is for one
  const bool takes_back = arguments.positional()[0] == "unpin";
  const NamedValues given =
      takes_back ? NamedValues{}
                 : named_values_in(words_of(arguments.text("config")), "--config: ", "BM=64");
  db::TunedStore store = open_present_store(arguments);
  const LeftOutWarning warning(store);
  const std::vector<Nearest> nearest = nearest_entries(arguments, store);
  const db::TunedEntry& like = nearest.front().entry;
  for (const auto& [asked, entry, distance] : nearest) {
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
  const NamedValues configuration =
      takes_back ? NamedValues{} : whole_configuration(given, store, nearest);
  for (NamedValues problem : asked_by(nearest)) {
    for (const NamedValue& setting : problem_of(like).settings) problem.push_back(setting);
    db::PinRow pin;
    pin.key = like.best.key;
    pin.key.problem = to_text(problem);
    pin.configuration = to_text(configuration);
    pin.note = arguments.find("note").value_or("");
    pin.created_at = db::now_text();
    store.pin(pin);
    const Readable readable(arguments, like.kernel.target, pin.key.problem, like.device);
    std::cout << format("{} {} on {}: {}\n", like.kernel.target, readable.problem(),
                        like.device.name,
                        takes_back ? "no longer pinned" : "pinned to " + pin.configuration);
  }
  return kDone;
}

int run_retract(const Arguments& arguments) {
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

constexpr std::array kActions{
    Action{"export", run_export},      Action{"import", run_import, true},
    Action{"merge", run_import, true}, Action{"check", run_check},
    Action{"compact", run_compact},    Action{"pin", run_pin},
    Action{"unpin", run_pin},          Action{"retract", run_retract, true}};

int run_db(const Arguments& arguments) {
  std::vector<std::string> names;
  for (const Action& action : kActions) names.emplace_back(action.name);
  if (arguments.positional().empty()) {
    throw UsageError("db needs one of export, import, merge, check, compact, pin, unpin, retract");
  }
  const std::string& name = arguments.positional()[0];
  for (const Action& action : kActions) {
    if (action.name != name) continue;
    if (!action.takes_words && arguments.positional().size() > 1) {
      throw UsageError(
          format("db {} does not know what to do with \"{}\": name the database with --db", name,
                 arguments.positional()[1]));
    }
    return action.run(arguments);
  }
  throw UsageError(format("db knows no \"{}\": {}", name, suggestion(name, names)));
}

}  // namespace

extern const Verb kDb;
const Verb kDb{
    .name = "db",
    .synopsis = "export|import|merge|check|compact|pin|unpin|retract [FILE…] [--db FILE]",
    .summary =
        "Export, import, merge, check, compact the database; pin a configuration, retract a fact",
    .details =
        "`export` writes `--format` jsonl (every fact, one JSON object a line in canonical order), "
        "best (only the answers, as JSON lines), cpp (the answers as a C++ header) or sqlite. "
        "`import` and `merge` add what FILEs hold, JSON lines or databases, and never overwrite: "
        "the order does not matter, nor does doing it twice. `check` reads every row and compares "
        "it with its id. `compact` derives the answers anew and gives free pages back. `pin` makes "
        "`--config` the answer for a size until `unpin`; values that `query` leaves out may be "
        "left out. `retract ID --reason TEXT` takes a fact out of all answers, here and wherever "
        "the "
        "database is merged into; a session takes its trials and decisions along. `check` and "
        "`query --json` tell ids.",
    .options = {{"db", "FILE", "The database"},
                {"format", "F", "export: jsonl, best, cpp, sqlite", "jsonl"},
                {"output", "FILE", "export: write there in place of stdout"},
                {"target", "T", "pin: the target; export: only this one"},
                {"device", "NAME", "pin, export: only this device"},
                {"size", "S", "pin: a problem, as for tune"},
                {"set", "NAME=VALUE", "pin: a setting of the problem, such as dtype=f64", "", true},
                {"config", "TEXT", "pin: the configuration, \"BM=64 BN=64 …\""},
                {"note", "TEXT", "pin: why"},
                {"reason", "TEXT", "retract: why"}},
    .positional = "ACTION",
    .run = run_db};

}  // namespace autotune::cli
