// SPDX-License-Identifier: Apache-2.0
// autotune report: everything that is stored of some problems, as one HTML file.
#include "tuner/report/report.hpp"

#include <iostream>

#include "tuner/cli/answer_judge.hpp"
#include "tuner/cli/output_file.hpp"
#include "tuner/cli/plugins.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/core/error.hpp"
#include "tuner/report/page.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

std::vector<db::TunedEntry> asked_entries(const Arguments& arguments, const db::TunedStore& store) {
  if (!arguments.has("size")) return chosen_entries(arguments, store);
  arguments.text("target");  // names the sizes
  std::vector<db::TunedEntry> entries = exact_entries(arguments, store, target_name(arguments));
  if (entries.empty()) {
    throw Error(format("{} of size {} is not tuned in {}: run autotune query to see what is",
                       arguments.text("target"), arguments.text("size"), store.path().string()));
  }
  return entries;
}

int run_report(const Arguments& arguments) {
  const std::string file = arguments.text("output");
  Plugins plugins(arguments);
  const db::TunedStore store = open_store(arguments, db::Mode::read_only);
  const LeftOutWarning warning(store);
  AnswerJudge judge(arguments, [&](const std::string& name) { return plugins.find_target(name); });
  report::Report report;
  report.problems =
      report::collect(store, asked_entries(arguments, store),
                      [&](const std::string& name) { return judge.target_called(name); });
  report.database = store.path().filename().string();
  report.tool_version = AUTOTUNE_VERSION;
  report.written_at = db::now_text();
  write_output(file, [&](std::ostream& stream) { report::write_page(report, stream); });
  std::cout << format("{}: {} problems\n", file, report.problems.size());
  return kDone;
}

}  // namespace

extern const Verb kReport;
const Verb kReport{
    .name = "report",
    .synopsis = "[--target T] [--size S] [--db FILE] --output FILE",
    .summary = "Write a report with tables and plots as one HTML file",
    .details =
        "The file needs no network, and its tables need no JavaScript. It has the results with "
        "their rivals and roofs, the rate over the size, and for each problem its search, the "
        "effects of parameters, a roofline and the failures (docs/report.md). Without `--target` "
        "it has everything in the database.",
    .options = {{"target", "T", "A target's name or the path of a manifest"},
                {"size", "S", "A problem, as for tune: 512, 1037x1031x1055, 128..1024"},
                {"device", "NAME", "Only this device"},
                {"set", "NAME=VALUE", "Only problems with this setting, such as dtype=f64", "",
                 true},
                kPluginOption,
                {"db", "FILE", "The database"},
                {"output", "FILE", "The HTML file to write"}},
    .positional = {},
    .run = run_report};

}  // namespace autotune::cli
