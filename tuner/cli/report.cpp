// SPDX-License-Identifier: Apache-2.0
// autotune report: everything stored about some problems, as one HTML file.
#include "tuner/cli/report.hpp"

#include <algorithm>
#include <iostream>
#include <vector>

#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/core/error.hpp"
#include "tuner/report/page.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

std::vector<db::TunedEntry> answers(const Arguments& arguments, const db::TunedStore& store,
                                    bool expected) {
  std::vector<db::TunedEntry> entries = stored_entries(arguments, store);
  if (entries.empty() && expected) {
    throw Error(format("{} of size {} is not tuned in {}: run autotune query to see what is",
                       arguments.text("target"), arguments.text("size"), store.path().string()));
  }
  return entries;
}

bool has_later_answer(const db::TunedEntry& failed, const std::vector<db::TunedEntry>& answers) {
  const db::ProblemKey& key = failed.best.key;
  return std::ranges::any_of(answers, [&](const db::TunedEntry& one) {
    return one.kernel.target == failed.kernel.target && one.best.key.device == key.device &&
           one.best.key.problem == key.problem && one.best.key.policy == key.policy &&
           one.best.created_at > failed.best.created_at;
  });
}

/// Includes searches without an answer, because their failures are what a reader looks for.
std::vector<db::TunedEntry> asked_entries(const Arguments& arguments, const db::TunedStore& store) {
  std::vector<db::TunedEntry> failed = unanswered_entries(arguments, store);
  if (!failed.empty() && !is_tuned(arguments, store)) return failed;
  std::vector<db::TunedEntry> entries = answers(arguments, store, failed.empty());
  std::erase_if(failed, [&](const auto& one) { return has_later_answer(one, entries); });
  entries.insert(entries.end(), failed.begin(), failed.end());
  return entries;
}

/// Leaves its search only, as for problems without an answer.
void take_answer_out(db::TunedEntry& entry) {
  db::BestRow rest;
  rest.key = entry.best.key;
  rest.session = entry.best.session;
  rest.created_at = entry.best.created_at;
  entry.best = std::move(rest);
}

}  // namespace

ReportSource::ReportSource(const Arguments& arguments, bool or_shipped)
    : arguments_(arguments),
      or_shipped_(or_shipped),
      plugins_(arguments),
      judge_(arguments, [this](const std::string& name) { return plugins_.find_target(name); }) {
  if (arguments.has("size")) arguments.text("target");  // names the sizes
}

db::TunedStore ReportSource::store() {
  const std::filesystem::path own = database_path(arguments_);
  if (or_shipped_ && !has_own_database(arguments_)) {
    if (auto shipped = shipped_store(arguments_)) {
      warn_of_new(
          {format("nothing is tuned here yet ({} is missing): the report has the results "
                  "that ship with autotune",
                  own.string())});
      return *std::move(shipped);
    }
  }
  return open_store(arguments_, db::Mode::read_only);
}

report::Report ReportSource::read() {
  const db::TunedStore store = this->store();
  std::vector<db::TunedEntry> entries = asked_entries(arguments_, store);
  ProgramAnswers programs(arguments_, judge_);
  for (db::TunedEntry& entry : entries) {
    if (!is_answered(entry, programs)) take_answer_out(entry);
  }
  report::Report report;
  report.problems = report::collect(
      store, entries, [this](const std::string& name) { return judge_.target_called(name); });
  report.database = store.path().filename().string();
  report.tool_version = AUTOTUNE_VERSION;
  report.written_at = db::now_text();
  warn_of_new(store.left_out());
  return report;
}

/// Results of earlier sources are shown as they were.
bool ReportSource::is_answered(const db::TunedEntry& entry, ProgramAnswers& programs) try {
  const bool is_current = judge_.target_of(entry) != nullptr;
  return is_given(entry,
                  is_current ? programs.find(entry, problem_of(entry).sizes) : ProgramAnswer{});
} catch (const Error&) {  // programs get no answer there
  return false;
}

void ReportSource::warn_of_new(const std::set<std::string>& left_out) {
  std::vector<std::string> sentences;
  for (const std::string& sentence : left_out) {
    if (told_.insert(sentence).second) sentences.push_back(sentence);
  }
  warn_of(sentences);
}

namespace {

int run_report(const Arguments& arguments) {
  const std::string file = arguments.text("output");
  ReportSource source(arguments, true);
  const report::Report report = source.read();
  write_output(file, [&](std::ostream& stream) { report::write_page(report, stream); });
  std::cout << format("{}: {}\n", file, count_text(report.problems.size(), "problem"));
  return kDone;
}

/// What both verbs have.
std::vector<Option> options_with(const Option& own) {
  return {{"target", "T", "A target's name or the path of a manifest"},
          {"size", "S", "A problem, as for tune: 512, 1037x1031x1055, 128..1024"},
          {"device", "NAME", "Only this device"},
          {"set", "NAME=VALUE", "Only problems with this setting, such as dtype=f64", "", true},
          kContextOption,
          kPluginOption,
          {"db", "FILE", "The database"},
          own};
}

}  // namespace

const Verb kReport{
    .name = "report",
    .synopsis = "[--target T] [--size S] [--db FILE] --output FILE",
    .summary = "Write a report with tables and plots as one HTML file",
    .details =
        "The file needs no network, and its tables need no JavaScript. It has the results with "
        "their baselines and roofs, the rate over the size, and for each problem its search, the "
        "effects of parameters, a roofline and the failures (docs/report.md). Without `--target` "
        "it has everything in the database; without a database, the results that ship with "
        "autotune. "
        "`autotune watch` shows it while it grows.",
    .options = options_with({"output", "FILE", "The HTML file to write"}),
    .positional = {},
    .run = run_report};

// autotune watch: the report in a browser, while the database grows.

const Verb kWatch{
    .name = "watch",
    .synopsis = "[--target T] [--size S] [--db FILE] [--port N]",
    .summary = "Show the report in a browser, while the database grows",
    .details =
        R"(Prints a URL of this machine, and answers there until Ctrl-C or SIGTERM. The page is that of
`autotune report`. It looks for new trials every two seconds, and keeps what the reader has chosen.

The URL has a token; without it the page is refused. From another machine, make a tunnel, such as
`ssh -L 8000:127.0.0.1:8000 HOST` with `--port 8000`, and open the URL there.

It waits for a database that does not exist yet. If the database cannot be read, the page says so and
shows the last state that could be read. Reading takes at most a tenth of one core's time, and
nothing while no browser shows the page.)",
    .options = options_with({"port", "N", "The port on 127.0.0.1; 0: a free one", "0"}),
    .positional = {},
    .run = run_watch};

}  // namespace autotune::cli
