// SPDX-License-Identifier: Apache-2.0
// autotune explain: what bounds the best configuration, and why others are slower.
#include <algorithm>
#include <iostream>

#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/explanation_report.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// The stored results for --size; with free sizes, what programs get.
std::vector<Answer> explained_answers(const Arguments& arguments, const Target& target,
                                      Databases& databases) {
  std::vector<Answer> answers = databases.answers(FreeSizes::taken);
  const db::TunedEntry first = answers.front().entry;
  std::erase_if(answers, [](const Answer& one) { return !one.is_stored && !one.is_away(); });
  if (!answers.empty()) return answers;
  const auto device = arguments.find("device");
  throw Error(format("{} of size {} is not tuned{} in {}: run {}", first.kernel.target,
                     arguments.text("size"), device ? " for " + *device : "",
                     database_path(arguments).string(), tune_command(arguments, target, first)));
}

/// Counts on this machine, for the user's own results.
void count(const Arguments& arguments, const std::vector<Answer>& answers, const Target& target,
           Plugins& plugins) {
  if (std::ranges::any_of(answers, &Answer::is_away)) {
    throw UsageError(
        format("--counters: {} is counted with its default free sizes only: leave the "
               "others out",
               target.name));
  }
  db::TunedStore store = open_present_store(arguments);
  std::vector<db::TunedEntry> entries;
  for (const Answer& answer : answers) {
    if (!answer.shipped) entries.push_back(answer.entry);
  }
  count_entries(entries, target, plugins, store, "auto",
                [](const std::string& sentence) { warn_of({sentence}); });
}

report::Expected expected_of(const Explanation& explanation, const Work& work) {
  report::Expected expected;
  expected.seconds = explanation.seconds.value_or(0);
  if (is_gpu(explanation)) expected.occupancy = explanation.estimate.occupancy.fraction;
  expected.flops = work.flops;
  expected.bytes = work.bytes;
  expected.l2_bytes = explanation.input.work.l2_bytes;
  expected.accesses = explanation.accesses;
  return expected;
}

int run_explain(const Arguments& arguments) {
  const auto losers = static_cast<std::size_t>(arguments.integer("losers", 0, 1000));
  Plugins plugins(arguments);
  AnswerJudge judge(arguments, [&](const std::string& name) { return plugins.find_target(name); });
  const Target target = plugins.find_target(arguments.text("target"));
  Databases databases(arguments, judge);
  const std::vector<Answer> answers = explained_answers(arguments, target, databases);
  if (arguments.has("counters")) count(arguments, answers, target, plugins);
  Json documents = Json::array();
  for (const Answer& answer : answers) {
    db::TunedEntry entry = answer.entry;
    if (answer.is_away()) entry.kernel = kernel_row(target);
    const db::TunedStore& store = databases.store_of(answer);
    const std::string figures =
        answer.is_stored
            ? figures_of(db::counters_of(store, entry.best.key), entry.best.configuration)
            : "";
    const std::string bits = answer.is_stored ? class_of(store, entry.best) : "";
    const Problem problem{parse_named_values(entry.best.key.problem), answer.given.problem.free};
    const Explanation explanation = explain(store, entry, target, losers, problem.free);
    const Work work = work_of(target, problem, device_of(entry.device));
    const std::string name = format("{} {} on {}", entry.kernel.target,
                                    problem_text(target, problem), entry.device.name);
    if (arguments.has("json")) {
      Json document = explanation_json(explanation);
      document["problem"] = entry.best.key.problem;
      document["program"] = program_json(answer.given);
      document["baseline"] = baseline_json(entry.best.baseline);
      document["counters"] = counters_json(figures);
      document["bits"] = bits.empty() ? Json() : Json(bits);
      documents.push_back(std::move(document));
      continue;
    }
    if (answer.is_away()) {
      const TargetLookup& lookup = *answer.given.lookup;
      if (&answer != &answers.front()) std::cout << '\n';
      std::cout << explanation_of(lookup.target(), problem, lookup.device(), answer.given.answer)
                << explanation_text(explanation);
      continue;
    }
    std::cout << format("{} ({})\n", name, entry.best.key.policy)
              << configuration_text(target, problem, explanation.best, device_of(entry.device))
              << '\n'
              << (entry.best.baseline.ns ? format("baseline    {}\n", baseline_text(entry.best))
                                         : "")
              << (bits.empty() ? "" : format("bits        {}\n", bits))
              << explanation_text(explanation)
              << counters_text(figures, expected_of(explanation, work)) << '\n'
              << terminal_plot(plot_of(explanation, name));
  }
  if (arguments.has("json")) std::cout << json_text(documents) << '\n';
  return kDone;
}

}  // namespace

const Verb kExplain{
    .name = "explain",
    .synopsis = "--target T --size S [--device NAME] [--db FILE] [--counters] [--json]",
    .summary = "Explain a result: occupancy, what bounds it, its nearest losers",
    .details =
        "Reads the database only; without `--db`, also the results that are shipped with autotune. "
        "With free sizes in `--size`, such as `512,lda=520`, it explains what a program gets that "
        "gives them, by the cost model: no result is stored for them. "
        "With `--counters`, it first counts the best configuration, the "
        "default and the ties on the GPU of this machine ([plugin_abi.md](plugin_abi.md) lists the "
        "counters). The figures are stored. From then on they are shown above the expectations of "
        "the target, the static analysis and the cost model. Their rates use the measured time. "
        "Times are measured. Bounds come from the cost model (docs/model.md), and the output says "
        "how far its prediction is off. `ranking` is Spearman's rank correlation of predicted and "
        "measured times: 1 for the same order, 0 for none. Below 0.5, with 30 times and more, the "
        "model misleads the search (docs/model.md). `failures` are configurations that were "
        "neither timed nor stopped early, "
        "with their most frequent reason. `progress` tells whether the search still "
        "improved at its end, and the next budget. The plot shows every "
        "configuration that was timed. If the FLOPs are known, it is a roofline plot, with the "
        "roof of tensor cores above that of FMAs if a configuration uses them; otherwise it ranks "
        "the times. The output lists why configurations were not timed to the end.",
    .options =
        {{"target", "T", "A target's name or the path of a manifest"},
         {"size", "S", "A problem, as for tune: 512, 1037x1031x1055; 512,lda=520"},
         {"device", "NAME", "Only this device"},
         {"set", "NAME=VALUE", "Only problems with this setting, such as dtype=f64", {}, true},
         kContextOption,
         kPluginOption,
         kCountersOption,
         {"losers", "N", "Number of nearest losers", "5"},
         {"db", "FILE", "The database"},
         {"json", "", "Print JSON"}},
    .positional = {},
    .run = run_explain};

}  // namespace autotune::cli
