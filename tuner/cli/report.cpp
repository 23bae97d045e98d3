// SPDX-License-Identifier: Apache-2.0
// autotune report: everything stored about some problems, as one HTML file.
#include <iostream>

#include "tuner/cli/output_file.hpp"
#include "tuner/cli/report_source.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/report/page.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

int run_report(const Arguments& arguments) {
  const std::string file = arguments.text("output");
  ReportSource source(arguments);
  const report::Report report = source.read();
  write_output(file, [&](std::ostream& stream) { report::write_page(report, stream); });
  const std::size_t count = report.problems.size();
  std::cout << format("{}: {} problem{}\n", file, count, count == 1 ? "" : "s");
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
        "their baselines and roofs, the rate over the size, and for each problem its search, the "
        "effects of parameters, a roofline and the failures (docs/report.md). Without `--target` "
        "it has everything in the database. `autotune watch` shows it while it grows.",
    .options = {{"target", "T", "A target's name or the path of a manifest"},
                {"size", "S", "A problem, as for tune: 512, 1037x1031x1055, 128..1024"},
                {"device", "NAME", "Only this device"},
                {"set", "NAME=VALUE", "Only problems with this setting, such as dtype=f64", "",
                 true},
                kContextOption,
                kPluginOption,
                {"db", "FILE", "The database"},
                {"output", "FILE", "The HTML file to write"}},
    .positional = {},
    .run = run_report};

}  // namespace autotune::cli
