// SPDX-License-Identifier: Apache-2.0
// autotune replay: how good a search strategy is, on recorded spaces, without a device.
#include "tuner/replay/replay.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iostream>

#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/db_export.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/core/error.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

struct Line {
  RecordedSpace recorded;
  ReplaySummary summary;
  ScoreRange range = {};  // with --score, as the next one
  Score score = {};
};

/// null if a run ended before that.
Json figure_json(double figure) { return std::isfinite(figure) ? Json(figure) : Json(nullptr); }

Json figure_json(const Quartiles& quartiles) {
  return Json::array(
      {figure_json(quartiles.low), figure_json(quartiles.median), figure_json(quartiles.high)});
}

Json space_json(const Line& line) {
  return {{"space", line.recorded.name},
          {"configurations", line.recorded.space.size()},
          {"failures", line.recorded.failures()},
          {"optimum_seconds", line.recorded.best()},
          {"own_seconds", line.summary.own_seconds}};
}

Json score_json(const Line& line) {
  Json json = space_json(line);
  json["score"] = line.score.mean;
  json["score_deviation"] = line.score.deviation;
  json["random_search_evaluations"] = line.range.evaluations;
  json["seconds"] = line.range.to;
  json["mean_evaluations"] = line.summary.mean_evaluations;
  return json;
}

Json summary_json(const Line& line) {
  Json json = space_json(line);
  for (std::size_t i = 0; i < kCheckpoints.size(); ++i) {
    json["ratio"][std::to_string(kCheckpoints[i])] = figure_json(line.summary.at[i]);
  }
  for (std::size_t i = 0; i < kMoments.size(); ++i) {
    json["ratio_after"][format("{} s", kMoments[i])] = figure_json(line.summary.after[i]);
  }
  json["evaluations_to_5_percent"] = figure_json(line.summary.to_5_percent);
  json["evaluations_to_1_percent"] = figure_json(line.summary.to_1_percent);
  json["reach_5_percent"] = line.summary.reach_5_percent;
  json["reach_1_percent"] = line.summary.reach_1_percent;
  json["mean_log_ratio"] = figure_json(line.summary.mean_log_ratio);
  json["ratio"]["end"] = figure_json(line.summary.at_end);
  json["mean_evaluations"] = line.summary.mean_evaluations;
  return json;
}

std::string figure_text(double figure, int digits) {
  return std::isfinite(figure) ? format("{:.{}f}", figure, digits) : "-";
}

std::string quartiles_text(const Quartiles& quartiles) {
  return format("{} [{}, {}]", figure_text(quartiles.median, 3), figure_text(quartiles.low, 3),
                figure_text(quartiles.high, 3));
}

void print(const Line& line, const ReplayRequest& request) {
  const ReplaySummary& summary = line.summary;
  std::cout << format("{}: {} configurations, {} fail, optimum {}\n", line.recorded.name,
                      line.recorded.space.size(), line.recorded.failures(),
                      time_text(line.recorded.best()));
  for (std::size_t i = 0; i < kCheckpoints.size() && kCheckpoints[i] <= request.budget; ++i) {
    std::cout << format("  best / optimum after {:>3}  {}\n", kCheckpoints[i],
                        quartiles_text(summary.at[i]));
  }
  for (std::size_t i = 0; i < kMoments.size() && request.threads > 1; ++i) {
    std::cout << format("  best / optimum at {:>3} s    {}\n", kMoments[i],
                        quartiles_text(summary.after[i]));
  }
  std::cout << format("  evaluations to 5 %        {}, reached by {:.1f} % of runs\n",
                      figure_text(summary.to_5_percent.median, 0), 100 * summary.reach_5_percent);
  std::cout << format("  evaluations to 1 %        {}, reached by {:.1f} % of runs\n",
                      figure_text(summary.to_1_percent.median, 0), 100 * summary.reach_1_percent);
  std::cout << format("  best / optimum at the end {}, after {:.1f} evaluations on average\n",
                      quartiles_text(summary.at_end), summary.mean_evaluations);
  std::cout << format("  strategy's own time       {} an evaluation\n",
                      time_text(summary.own_seconds));
}

/// Geometric means over the spaces: how strategies are compared.
void print_overall(const std::vector<Line>& lines, const ReplayRequest& request) {
  const auto mean = [&](auto figure) {
    double sum = 0;
    for (const Line& line : lines) sum += std::log(figure(line.summary));
    return std::exp(sum / static_cast<double>(lines.size()));
  };
  double reach = 0;
  for (const Line& line : lines) reach += line.summary.reach_1_percent;
  std::cout << format("{} spaces, geometric mean of medians:", lines.size());
  for (std::size_t i = 0; i < kCheckpoints.size() && kCheckpoints[i] <= request.budget; ++i) {
    const double ratio = mean([&](const ReplaySummary& summary) { return summary.at[i].median; });
    std::cout << format(" {}@{}", figure_text(ratio, 3), kCheckpoints[i]);
  }
  for (std::size_t i = 0; i < kMoments.size() && request.threads > 1; ++i) {
    const double ratio =
        mean([&](const ReplaySummary& summary) { return summary.after[i].median; });
    std::cout << format(" {}@{}s", figure_text(ratio, 3), kMoments[i]);
  }
  std::cout << format(
      ", e5 {}, e1 {}, {:.1f} % reach 1 %\n",
      figure_text(mean([](const ReplaySummary& s) { return s.to_5_percent.median; }), 0),
      figure_text(mean([](const ReplaySummary& s) { return s.to_1_percent.median; }), 0),
      100 * reach / static_cast<double>(lines.size()));
}

double mean_score(const std::vector<Line>& lines) {
  double sum = 0;
  for (const Line& line : lines) sum += line.score.mean;
  return sum / static_cast<double>(lines.size());
}

void print_scores(const std::vector<Line>& lines) {
  std::cout << format("score by the method of {}: 0 is random search, 1 the optimum at once\n",
                      kScoreMethod);
  std::size_t width = 5;
  for (const Line& line : lines) width = std::max(width, line.recorded.name.size());
  std::cout << format("{:<{}}   score  +-     evaluations  time       own time an evaluation\n",
                      "space", width);
  for (const Line& line : lines) {
    std::cout << format("{:<{}}  {:6.3f}  {:.3f}  {:<11}  {:<9}  {}\n", line.recorded.name, width,
                        line.score.mean, line.score.deviation, line.range.evaluations,
                        time_text(line.range.to), time_text(line.summary.own_seconds));
  }
  if (lines.size() > 1) std::cout << format("{:<{}}  {:6.3f}\n", "mean", width, mean_score(lines));
}

void refuse_beside(const Arguments& arguments, const char* option, const std::string& why,
                   std::initializer_list<const char*> others) {
  if (!arguments.has(option)) return;
  for (const char* other : others) {
    if (arguments.has(other)) {
      throw UsageError(format("--{} {}: leave out --{}", option, why, other));
    }
  }
}

ReplayRequest request_of(const Arguments& arguments) {
  refuse_beside(arguments, "score", "ends each run by time", {"budget"});
  refuse_beside(arguments, "trace", "has the runs already",
                {"strategy", "budget", "seeds", "threads", "model-error", "write-trace"});
  ReplayRequest request;
  request.strategy = arguments.text("strategy");
  request.automatic = arguments.text("budget") == "auto";
  request.budget = request.automatic
                       ? AutomaticEnd::kMost
                       : static_cast<std::size_t>(arguments.integer("budget", 1, 10'000'000));
  request.seeds = static_cast<int>(arguments.integer("seeds", 1, 100'000));
  request.threads = static_cast<int>(arguments.integer("threads", 1, 1024));
  return request;
}

/// The quartiles' standard deviation of log(predicted / true), in percent; nothing: no cost model.
std::vector<double> predictions(const Arguments& arguments, const RecordedSpace& recorded) {
  if (!arguments.has("model-error")) return {};
  const auto percent = static_cast<double>(arguments.integer("model-error", 0, 1000));
  return simulated_predictions(recorded, percent / 100);
}

/// The trials of each tuned problem that --target, --size, --device and --set mean.
std::vector<RecordedSpace> stored_spaces(const Arguments& arguments) {
  const db::TunedStore store = open_store(arguments, db::Mode::read_only);
  const LeftOutWarning warning(store);
  std::vector<RecordedSpace> spaces;
  for (const db::TunedEntry& entry : searched_entries(arguments, store)) {
    spaces.push_back(recorded_space(name_of(entry), stored_results(store, entry)));
  }
  return spaces;
}

/// The runs of --trace, else those of the strategy.
std::vector<ReplayRun> runs_on(const RecordedSpace& recorded, const ReplayRequest& request,
                               const Arguments& arguments) {
  if (arguments.has("trace")) return read_trace(arguments.text("trace"), recorded);
  std::vector<ReplayRun> runs = replay(recorded, request, predictions(arguments, recorded));
  if (arguments.has("write-trace")) {
    write_output(arguments.text("write-trace"),
                 [&](std::ostream& stream) { stream << trace_text(recorded, runs); });
  }
  return runs;
}

Line line_of(RecordedSpace recorded, ReplayRequest request, const Arguments& arguments) {
  Line line{.recorded = std::move(recorded), .summary = {}};
  const bool is_scored = arguments.has("score");
  if (is_scored) {
    line.range = score_range(line.recorded, request.threads);
    request.budget = line.recorded.space.size();
    request.seconds = line.range.run_seconds();
  }
  const std::vector<ReplayRun> runs = runs_on(line.recorded, request, arguments);
  if (is_scored) line.score = score_of(line.recorded, runs, request.threads);
  line.summary = summarize(runs);
  return line;
}

Json lines_json(const std::vector<Line>& lines, const ReplayRequest& request,
                const Arguments& arguments) {
  const bool is_scored = arguments.has("score");
  Json json{{"spaces", Json::array()}};
  for (const Line& line : lines) {
    json["spaces"].push_back(is_scored ? score_json(line) : summary_json(line));
  }
  if (arguments.has("trace")) {
    json["trace"] = arguments.text("trace");
  } else {
    json["strategy"] = request.strategy;
    json["seeds"] = request.seeds;
    json["threads"] = request.threads;
    if (!is_scored) json["budget"] = request.budget;
  }
  if (is_scored) {
    json["method"] = kScoreMethod;
    json["score"] = mean_score(lines);
  }
  return json;
}

int run_replay(const Arguments& arguments) {
  if (!arguments.positional().empty() && arguments.has("target")) {
    throw UsageError("replay reads files or the trials of --target, not both: leave one out");
  }
  if (arguments.positional().empty() && !arguments.has("target")) {
    throw UsageError(
        "replay needs a recorded space: a Kernel Tuner cache or T4 results, .gz too; "
        "or --target for the trials of the database");
  }
  Plugins plugins(arguments);
  const ReplayRequest request = request_of(arguments);
  plugins.provide_strategy(request.strategy);  // reports an unknown one before any file is read
  std::vector<Line> lines;
  std::vector<RecordedSpace> stored;
  if (arguments.has("target")) stored = stored_spaces(arguments);
  const std::size_t count = stored.size() + arguments.positional().size();
  if (count > 1 && (arguments.has("trace") || arguments.has("write-trace"))) {
    throw UsageError("a trace is of one space: give one file");
  }
  for (std::size_t i = 0; i < count; ++i) {
    RecordedSpace recorded = i < stored.size()
                                 ? std::move(stored[i])
                                 : read_recorded_space(arguments.positional()[i - stored.size()]);
    lines.push_back(line_of(std::move(recorded), request, arguments));
    if (!arguments.has("json") && !arguments.has("score")) print(lines.back(), request);
  }
  if (arguments.has("json")) {
    std::cout << json_text(lines_json(lines, request, arguments)) << '\n';
  } else if (arguments.has("score")) {
    print_scores(lines);
  } else if (lines.size() > 1) {
    print_overall(lines, request);
  }
  return kDone;
}

}  // namespace

const Verb kReplay{
    .name = "replay",
    .synopsis =
        "FILE…|--target T [--size S] [--strategy STRATEGY] [--budget N|--score] [--seeds N] "
        "[--threads N] [--json]",
    .summary = "Evaluate a search strategy on recorded spaces, without a device",
    .details =
        "Reads Kernel Tuner's cache files (cut-off ones too) and T4 results, with or without gzip. "
        "With `--target`, it reads the trials of the database instead: each tuned problem is a "
        "space of the configurations that were tried. Figures are the "
        "best time so far divided by the optimum. `1.087 [1.000, 1.137]` is the median over the "
        "seeds, with the quartiles. Configurations that fail are part of the space. An evaluation "
        "that is repeated is free. "
        "`--score` prints the score that others publish: 0 is random search, 1 the optimum at once "
        "(docs/search.md). It needs the recorded times of compiling and running. The strategy's "
        "own time counts, so nothing else should run. `+-` is the deviation of the package's own "
        "score, which resamples the runs at random.\n\n"
        "With `--threads 16`, a run is as one of `tune`: 16 configurations compile at a time in "
        "their recorded times, they are measured one after the other as they become ready, and "
        "the default configuration is known first: the one that the file marks, else for each seed "
        "another one, of 1.3 to 2.5 times the optimum. `at 60 s` is that second of the run, "
        "without the strategy's own time.",
    .options = {{"strategy", "STRATEGY", "The search strategy (autotune list strategies)",
                 "guided"},
                kPluginOption,
                {"budget", "N", "Evaluations per run, or auto as for tune", "200"},
                {"seeds", "N", "Number of runs, with seeds 1 to N", "40"},
                {"threads", "N",
                 "Simulate so many threads that compile; 1: one configuration at a time", "1"},
                {"score", "", "Print the field's score in place of best / optimum"},
                {"trace", "FILE", "In place of a strategy: the runs of this file, of one space"},
                {"write-trace", "FILE", "Write the runs to this file, for --trace and others"},
                {"model-error", "PERCENT",
                 "Simulate a cost model; PERCENT is one standard deviation of the logarithm of its "
                 "error"},
                {"target", "T", "In place of files: the trials of this target in the database"},
                {"size", "S", "With --target: only this problem, as for tune"},
                {"set", "NAME=VALUE", "With --target: only problems with this setting", "", true},
                kContextOption,
                {"device", "NAME", "With --target: only this device"},
                {"db", "FILE", "With --target: the database"},
                {"json", "", "Print JSON"}},
    .positional = "FILE…",
    .run = run_replay};

}  // namespace autotune::cli
