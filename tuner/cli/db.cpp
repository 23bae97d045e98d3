// SPDX-License-Identifier: Apache-2.0
// autotune db: its actions; check, compact and retract.
#include <array>
#include <iostream>

#include "tuner/cli/db_actions.hpp"
#include "tuner/cli/plugins.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

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
  std::vector<std::string> names;
  for (const Action& action : kActions) names.emplace_back(action.name);
  if (arguments.positional().empty()) {
    throw UsageError(
        "db needs one of export, import, merge, convert, check, compact, pin, unpin, retract");
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
  throw UsageError(format("db has no action \"{}\": {}", name, suggestion(name, names)));
}

}  // namespace

extern const Verb kDb;
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
