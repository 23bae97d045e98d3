// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/replay.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <numbers>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"
#include "tuner/search/random_source.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Of 1.3 to 2.5 times the best time, if there is one, else any that works.
std::size_t some_default(const RecordedSpace& recorded, std::uint64_t seed) {
  constexpr double kFast = 1.3, kSlow = 2.5;
  std::vector<std::size_t> working, likely;
  for (const Evaluation& answer : recorded.answers) {
    if (answer.outcome != Outcome::ok) continue;
    working.push_back(answer.index);
    const double ratio = *answer.seconds / recorded.best();
    if (ratio >= kFast && ratio <= kSlow) likely.push_back(answer.index);
  }
  const std::vector<std::size_t>& from = likely.empty() ? working : likely;
  return from[RandomSource(seed).below(from.size())];
}

ReplayRun run_once(const RecordedSpace& recorded, const ReplayRequest& request, std::uint64_t seed,
                   std::span<const double> predicted) {
  RecordedRun run{.budget = request.budget,
                  .seconds = request.seconds,
                  .threads = request.threads,
                  .known = {},
                  .predicted = predicted,
                  .end_at_optimum = request.end_at_optimum,
                  .automatic = request.automatic};
  if (request.threads > 1) {
    run.known = recorded.default_index ? recorded.default_index : some_default(recorded, seed);
  }
  RecordedEvaluator evaluator(recorded, run);
  const std::unique_ptr<SearchStrategy> strategy = make_strategy(request.strategy);
  const auto start = std::chrono::steady_clock::now();
  strategy->search(evaluator, seed);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  ReplayRun done =
      run_of(recorded, seed, {evaluator.order().begin(), evaluator.order().end()}, spent.count());
  done.measured_at = {evaluator.measured_at().begin(), evaluator.measured_at().end()};
  return done;
}

template <class Figure>
Quartiles quartiles_of(std::span<const ReplayRun> runs, Figure figure) {
  std::vector<double> values;
  for (const ReplayRun& run : runs) values.push_back(figure(run));
  return quartiles(std::move(values));
}

Quartiles evaluations_to(std::span<const ReplayRun> runs, double share, double& reached) {
  const auto figure = [&](const ReplayRun& run) {
    const auto count = run.evaluations_to(share);
    return count ? static_cast<double>(*count) : kInfinity;
  };
  const auto reach = std::count_if(runs.begin(), runs.end(), [&](const ReplayRun& run) {
    return run.evaluations_to(share).has_value();
  });
  reached = static_cast<double>(reach) / static_cast<double>(runs.size());
  return quartiles_of(runs, figure);
}

}  // namespace

ReplayRun run_of(const RecordedSpace& recorded, std::uint64_t seed, std::vector<std::size_t> order,
                 double own_seconds) {
  ReplayRun run{seed, {}, 0, std::move(order), {}};
  const double optimum = recorded.best();
  double best = kInfinity, now = 0;
  for (const std::size_t index : run.order) {
    const Evaluation& answer = recorded.answers[index];
    if (answer.outcome == Outcome::ok) best = std::min(best, *answer.seconds / optimum);
    run.ratios.push_back(best);
    run.measured_at.push_back(now += recorded.total_seconds[index]);
  }
  run.own_seconds = own_seconds / static_cast<double>(std::max<std::size_t>(run.order.size(), 1));
  return run;
}

double ReplayRun::ratio_at(std::size_t evaluations) const {
  return ratios.empty() ? kInfinity : ratios[std::min(evaluations, ratios.size()) - 1];
}

double ReplayRun::ratio_after(double seconds) const {
  const auto done = std::ranges::upper_bound(measured_at, seconds) - measured_at.begin();
  return done == 0 ? kInfinity : ratio_at(static_cast<std::size_t>(done));
}

std::optional<std::size_t> ReplayRun::evaluations_to(double share) const {
  const auto found =
      std::find_if(ratios.begin(), ratios.end(), [&](double ratio) { return ratio <= 1 + share; });
  if (found == ratios.end()) return std::nullopt;
  return static_cast<std::size_t>(found - ratios.begin()) + 1;
}

std::vector<ReplayRun> replay(const RecordedSpace& recorded, const ReplayRequest& request,
                              std::span<const double> predicted) {
  if (recorded.failures() == recorded.space.size()) {
    throw Error(format("{}: every configuration fails, so there is no optimum to compare with",
                       recorded.name));
  }
  if (predicted.empty()) predicted = recorded.predicted;
  std::vector<ReplayRun> runs;
  for (int seed = 1; seed <= request.seeds; ++seed) {
    runs.push_back(run_once(recorded, request, static_cast<std::uint64_t>(seed), predicted));
  }
  return runs;
}

std::vector<double> simulated_predictions(const RecordedSpace& recorded, double error) {
  std::vector<double> times;
  for (const Evaluation& answer : recorded.answers) {
    if (answer.seconds) times.push_back(*answer.seconds);
  }
  const double middle = quartiles(times).median;
  RandomSource random(1);
  std::vector<double> predicted;
  for (const Evaluation& answer : recorded.answers) {
    // Box and Muller's normal deviate.
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double normal = radius * std::cos(2 * std::numbers::pi * random.uniform());
    predicted.push_back(answer.seconds.value_or(middle) * std::exp(error * normal));
  }
  return predicted;
}

Quartiles quartiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const double part = place - static_cast<double>(below);
    if (part == 0 || values[below] == values[below + 1]) return values[below];
    return values[below] + part * (values[below + 1] - values[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

ReplaySummary summarize(std::span<const ReplayRun> runs) {
  ReplaySummary summary;
  for (std::size_t i = 0; i < kCheckpoints.size(); ++i) {
    const auto figure = [&](const ReplayRun& run) { return run.ratio_at(kCheckpoints[i]); };
    summary.at[i] = quartiles_of(runs, figure);
    for (const ReplayRun& run : runs) summary.mean_log_ratio += std::log(figure(run));
  }
  for (std::size_t i = 0; i < kMoments.size(); ++i) {
    summary.after[i] =
        quartiles_of(runs, [&](const ReplayRun& run) { return run.ratio_after(kMoments[i]); });
  }
  summary.mean_log_ratio /= static_cast<double>(runs.size() * kCheckpoints.size());
  summary.to_5_percent = evaluations_to(runs, 0.05, summary.reach_5_percent);
  summary.to_1_percent = evaluations_to(runs, 0.01, summary.reach_1_percent);
  summary.own_seconds =
      quartiles_of(runs, [](const ReplayRun& run) { return run.own_seconds; }).median;
  summary.at_end =
      quartiles_of(runs, [](const ReplayRun& run) { return run.ratio_at(run.ratios.size()); });
  for (const ReplayRun& run : runs) {
    summary.mean_evaluations +=
        static_cast<double>(run.ratios.size()) / static_cast<double>(runs.size());
  }
  return summary;
}

namespace {

std::string key_at(const ParameterSpace& space, std::size_t index) {
  std::vector<Value> values;
  for (const NamedValue& each : space.at(index)) values.push_back(each.value);
  return key_of(values);
}

using Keys = std::unordered_map<std::string, std::size_t>;

ReplayRun read_run(const std::string& line, const RecordedSpace& recorded, const Keys& keys) {
  std::istringstream words(line);
  std::uint64_t seed = 0;
  double seconds = 0;
  if (!(words >> seed >> seconds) || !(seconds >= 0)) {
    throw Error("expected a seed, seconds and configurations");
  }
  std::vector<std::size_t> order;
  for (std::string key; words >> key;) {
    const auto found = keys.find(key);
    if (found == keys.end()) throw Error(format("{} has no configuration {}", recorded.name, key));
    order.push_back(found->second);
  }
  return run_of(recorded, seed, std::move(order), seconds);
}

}  // namespace

std::string trace_text(const RecordedSpace& recorded, std::span<const ReplayRun> runs) {
  std::string text;
  for (const ReplayRun& run : runs) {
    text += format("{} {:.6g}", run.seed, run.own_seconds * static_cast<double>(run.order.size()));
    for (const std::size_t index : run.order) text += ' ' + key_at(recorded.space, index);
    text += '\n';
  }
  return text;
}

std::vector<ReplayRun> read_trace(const std::filesystem::path& file,
                                  const RecordedSpace& recorded) {
  Keys keys;
  for (std::size_t i = 0; i < recorded.space.size(); ++i)
    keys.emplace(key_at(recorded.space, i), i);
  std::istringstream lines(read_maybe_gzip(file));
  std::vector<ReplayRun> runs;
  for (std::string line; std::getline(lines, line);) {
    try {
      runs.push_back(read_run(line, recorded, keys));
    } catch (const Error& error) {
      throw Error(format("{}: line {}: {}", file.string(), runs.size() + 1, error.what()));
    }
  }
  if (runs.empty()) throw Error(format("{}: holds no run", file.string()));
  return runs;
}

namespace {

/// `2026-11-22T14:34:21.102791Z` as Python writes it.
std::string python_time_text(std::string text) {
  if (text.ends_with('Z')) text.replace(text.size() - 1, 1, "+00:00");
  if (text.size() > 10) text[10] = ' ';
  return text;
}

RecordedResult result_of(const db::TrialRow& row) {
  const Trial trial = trial_of(row);
  RecordedResult result;
  for (const NamedValue& each : trial.configuration) result.values.push_back(each.value);
  result.outcome = trial.outcome;
  if (trial.measurement) {
    result.seconds = trial.measurement->median;
    result.samples = trial.measurement->samples;
  }
  result.compile_seconds = trial.compile_seconds;
  result.timestamp = python_time_text(row.created_at);
  return result;
}

std::vector<std::string> names_in(const std::string& configuration) {
  std::vector<std::string> names;
  for (const NamedValue& each : parse_named_values(configuration)) names.push_back(each.name);
  return names;
}

/// Each with the values that occur, in ascending order.
std::vector<Parameter> parameters_of(const std::vector<std::string>& names,
                                     const std::vector<RecordedResult>& results) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::set<Value> values;
    for (const RecordedResult& result : results) values.insert(result.values[i]);
    parameters.push_back({names[i], {values.begin(), values.end()}, std::nullopt});
  }
  return parameters;
}

}  // namespace

RecordedResults recorded_trials(std::vector<db::TrialRow> rows) {
  std::erase_if(rows, [](const db::TrialRow& row) {
    return row.stage != "search" || row.configuration.empty();
  });
  RecordedResults results;
  if (rows.empty()) return results;
  const std::vector<std::string> names = names_in(rows.back().configuration);
  std::map<std::string, const db::TrialRow*> latest;
  for (const db::TrialRow& row : rows) latest[row.configuration] = &row;
  for (const auto& [configuration, row] : latest) {
    if (names_in(configuration) == names) results.results.push_back(result_of(*row));
  }
  results.parameters = parameters_of(names, results.results);
  return results;
}

namespace {

std::uint64_t rank_of(const RecordedResult& row,
                      const std::vector<std::map<Value, std::size_t>>& levels) {
  std::uint64_t rank = 0;
  for (std::size_t p = 0; p < levels.size(); ++p) {
    const auto level = levels[p].find(row.values[p]);
    if (level == levels[p].end()) {
      throw Error(format("a configuration has the value {}, which its parameter does not list",
                         row.values[p].text()));
    }
    rank = rank * levels[p].size() + level->second;
  }
  return rank;
}

RecordedSpace space_of_rows(std::string name, std::vector<Parameter> parameters,
                            const std::vector<RecordedResult>& rows) {
  std::vector<std::map<Value, std::size_t>> levels;
  for (const Parameter& parameter : parameters) {
    auto& level = levels.emplace_back();
    for (const Value& value : parameter.values) level.emplace(value, level.size());
  }
  std::map<std::uint64_t, const RecordedResult*> by_rank;
  for (const RecordedResult& row : rows) by_rank[rank_of(row, levels)] = &row;
  std::vector<std::uint64_t> ranks;
  std::vector<Evaluation> answers;
  std::vector<double> compile_seconds, total_seconds, predicted;
  std::optional<std::size_t> default_index;
  for (const auto& [rank, row] : by_rank) {
    if (row->is_default) default_index = ranks.size();
    if (row->predicted_seconds > 0) predicted.push_back(row->predicted_seconds);
    answers.push_back({ranks.size(), row->outcome, row->seconds});
    compile_seconds.push_back(row->compile_seconds);
    total_seconds.push_back(row->total_seconds);
    ranks.push_back(rank);
  }
  if (predicted.size() < ranks.size()) predicted.clear();
  return {std::move(name),
          ParameterSpace(std::move(parameters), std::move(ranks)),
          std::move(answers),
          std::move(compile_seconds),
          std::move(total_seconds),
          std::move(predicted),
          default_index};
}

}  // namespace

double RecordedSpace::best() const {
  double best = std::numeric_limits<double>::infinity();
  for (const Evaluation& answer : answers) {
    if (answer.outcome == Outcome::ok) best = std::min(best, answer.seconds.value_or(best));
  }
  return best;
}

std::size_t RecordedSpace::failures() const {
  return static_cast<std::size_t>(
      std::count_if(answers.begin(), answers.end(), [](const Evaluation& answer) {
        return answer.outcome != Outcome::ok && answer.outcome != Outcome::pruned;
      }));
}

RecordedSpace recorded_space(std::string name, RecordedResults results) {
  return space_of_rows(std::move(name), std::move(results.parameters), results.results);
}

RecordedSpace read_recorded_space(const std::filesystem::path& file) {
  RecordedResults results = read_recorded_results(file);
  const std::string name = file.filename().string();
  try {
    return recorded_space(name.substr(0, name.find('.')), std::move(results));
  } catch (const Error& error) {
    throw Error(format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace autotune
