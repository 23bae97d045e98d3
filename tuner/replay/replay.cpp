// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/replay.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/interchange/recorded_results.hpp"
#include "tuner/records/records.hpp"
#include "tuner/search/random_source.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ReplayRun run_once(const RecordedSpace& recorded, const ReplayRequest& request, std::uint64_t seed,
                   std::span<const double> predicted) {
  RecordedEvaluator evaluator(recorded, request.budget, request.batch, predicted,
                              request.end_at_optimum, request.seconds);
  if (request.automatic) evaluator.end_automatically();
  const std::unique_ptr<SearchStrategy> strategy = make_strategy(request.strategy);
  const auto start = std::chrono::steady_clock::now();
  strategy->search(evaluator, seed);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return run_of(recorded, seed, {evaluator.order().begin(), evaluator.order().end()},
                spent.count());
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

RecordedEvaluator::RecordedEvaluator(const RecordedSpace& recorded, std::size_t budget, int batch,
                                     std::span<const double> predicted, bool end_at_optimum,
                                     double seconds)
    : recorded_(recorded),
      budget_(std::min(budget, recorded.space.size())),
      batch_(batch),
      predicted_(predicted),
      end_at_(end_at_optimum ? recorded.best() : 0),
      seconds_(seconds),
      asked_(recorded.space.size(), 0),
      idle_from_(static_cast<std::size_t>(batch), 0),
      compiled_at_(recorded.space.size(), kInfinity) {}

std::size_t RecordedEvaluator::remaining() const {
  if (automatic_end_ && automatic_end_->is_reached(order_.size())) return 0;
  if (seconds_ < kInfinity) {
    const std::chrono::duration<double> own = std::chrono::steady_clock::now() - start_;
    if (spent_ + own.count() >= seconds_) return 0;
  }
  return budget_ - order_.size();
}

void RecordedEvaluator::expect(double gain) {
  if (!automatic_end_) return;
  std::vector<Evaluation> known;
  for (const std::size_t index : order_) known.push_back(recorded_.answers[index]);
  automatic_end_->note(known, gain);
}

void RecordedEvaluator::prefetch(std::span<const std::size_t> indices) {
  for (const std::size_t index : indices) {
    if (compiled_at_[index] < kInfinity) continue;
    double& compiler = *std::ranges::min_element(idle_from_);
    compiler = std::max(compiler, now_) + recorded_.compile_seconds[index];
    compiled_at_[index] = compiler;
  }
}

std::vector<Evaluation> RecordedEvaluator::evaluate_some(std::span<const std::size_t> indices,
                                                         std::size_t count) {
  prefetch(indices);
  std::vector<std::size_t> order(indices.begin(), indices.end());
  std::ranges::stable_sort(order, {}, [&](std::size_t index) { return compiled_at_[index]; });
  order.resize(std::min(count, order.size()));
  for (const std::size_t index : order) now_ = std::max(now_, compiled_at_[index]);
  return evaluate(order);
}

std::vector<Evaluation> RecordedEvaluator::evaluate(std::span<const std::size_t> indices) {
  std::vector<Evaluation> answers;
  for (const std::size_t index : indices) {
    if (!asked_[index]) {
      if (remaining() == 0) return answers;
      asked_[index] = 1;
      order_.push_back(index);
      spent_ += recorded_.total_seconds[index];
      if (recorded_.answers[index].seconds.value_or(kInfinity) <= end_at_) budget_ = order_.size();
    }
    answers.push_back(recorded_.answers[index]);
  }
  return answers;
}

ReplayRun run_of(const RecordedSpace& recorded, std::uint64_t seed, std::vector<std::size_t> order,
                 double own_seconds) {
  ReplayRun run{seed, {}, 0, std::move(order)};
  const double optimum = recorded.best();
  double best = kInfinity;
  for (const std::size_t index : run.order) {
    const Evaluation& answer = recorded.answers[index];
    if (answer.outcome == Outcome::ok) best = std::min(best, *answer.seconds / optimum);
    run.ratios.push_back(best);
  }
  run.own_seconds = own_seconds / static_cast<double>(std::max<std::size_t>(run.order.size(), 1));
  return run;
}

double ReplayRun::ratio_at(std::size_t evaluations) const {
  return ratios.empty() ? kInfinity : ratios[std::min(evaluations, ratios.size()) - 1];
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

}  // namespace autotune
