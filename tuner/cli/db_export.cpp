// SPDX-License-Identifier: Apache-2.0
// autotune db export: facts or answers, as text or as a database.
#include <algorithm>
#include <iostream>

#include "db/exchange.hpp"
#include "tuner/cli/answer_judge.hpp"
#include "tuner/cli/db_actions.hpp"
#include "tuner/cli/output_file.hpp"
#include "tuner/cli/program_answer.hpp"
#include "tuner/cli/stored_results.hpp"
#include "tuner/core/error.hpp"
#include "tuner/interchange/kernel_tuner_cache.hpp"
#include "tuner/interchange/t4_results.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// The trials of one problem, in a format of other tuners.
void write_results(const Arguments& arguments, const db::TunedStore& store,
                   const std::string& format_name, std::ostream& out) {
  const RecordedResults results = stored_results(store, single_entry(arguments, store));
  out << (format_name == "t4" ? t4_results(results) : kernel_tuner_cache(results) + '\n');
}

/// What look-ups answer with, if this is their only database.
std::vector<db::TunedEntry> header_entries(const Arguments& arguments, const db::TunedStore& store,
                                           AnswerJudge& judge) {
  const bool is_all = !arguments.has("target") && !arguments.has("device");
  std::vector<db::TunedEntry> entries =
      is_all ? one_of_each(arguments, store.tuned({})) : chosen_entries(arguments, store);
  ProgramAnswers programs(judge, {{store.path(), db::Mode::read_only}});
  keep_given(entries, programs);
  return entries;
}

/// Returns the number of damaged facts that are left out. The store reports damaged answers.
std::int64_t write_export(const Arguments& arguments, const db::TunedStore& store,
                          AnswerJudge& judge, const std::string& format_name, std::ostream& out) {
  if (format_name == "jsonl") return db::export_json_lines(store, out);
  if (format_name == "t4" || format_name == "kt") {
    write_results(arguments, store, format_name, out);
  } else {
    db::export_header(header_entries(arguments, store, judge), out);
  }
  return 0;
}

/// Adds to a database that exists. Returns the number of damaged rows that are left out.
std::int64_t write_database(const db::TunedStore& store, const std::filesystem::path& file) {
  std::error_code missing;
  if (std::filesystem::equivalent(file, store.path(), missing)) {
    throw UsageError(
        format("{}: is the database that is exported: name another file", file.string()));
  }
  db::TunedStore copy(file);
  const db::ImportReport report = db::merge(copy, store);
  warn_of(report.refused);
  return static_cast<std::int64_t>(report.refused.size());
}

}  // namespace

int run_export(const Arguments& arguments) {
  static const std::vector<std::string> kFormats{"jsonl", "cpp", "sqlite", "t4", "kt", "source"};
  const std::string format_name = arguments.text("format");
  if (std::find(kFormats.begin(), kFormats.end(), format_name) == kFormats.end()) {
    throw UsageError(
        format("there is no format \"{}\": {}", format_name, suggestion(format_name, kFormats)));
  }
  if (arguments.has("embed") && format_name != "cpp") {
    throw UsageError(format("--embed is for --format cpp, not {}", format_name));
  }
  if (format_name == "source") return run_export_source(arguments);
  if (arguments.has("embed")) return run_export_embedded(arguments);
  db::TunedStore store = open_store(arguments, db::Mode::read_only);
  const LeftOutWarning warning(store);
  AnswerJudge judge(arguments);
  use_valid_only(store, judge);
  const bool whole = format_name == "jsonl" || format_name == "sqlite";
  if (whole && (arguments.has("target") || arguments.has("device"))) {
    throw UsageError(format("--format={} holds every fact and takes neither --target nor --device",
                            format_name));
  }
  const auto output = arguments.find("output");
  std::int64_t damaged = 0;
  if (format_name == "sqlite") {
    if (!output) throw UsageError("--format=sqlite needs --output FILE");
    damaged = write_database(store, *output);
  } else if (output) {
    write_output(*output, [&](std::ostream& file) {
      damaged = write_export(arguments, store, judge, format_name, file);
    });
  } else {
    damaged = write_export(arguments, store, judge, format_name, std::cout);
  }
  if (damaged > 0) {
    std::cerr << format(
        "warning: {}: {} damaged rows are left out: autotune db check tells which\n",
        store.path().string(), damaged);
  }
  return damaged == 0 && store.left_out().empty() ? kDone : kFailed;
}

}  // namespace autotune::cli
