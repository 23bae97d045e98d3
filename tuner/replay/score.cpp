// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/replay.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "tuner/core/error.hpp"
#include "tuner/search/random_source.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Of the parabola through three points, at the first; limited to stay monotone.
double end_slope(double width, double next_width, double slope, double next_slope) {
  const double end = ((2 * width + next_width) * slope - width * next_slope) / (width + next_width);
  if (end * slope <= 0) return 0;
  return slope * next_slope < 0 && std::abs(end) > 3 * std::abs(slope) ? 3 * slope : end;
}

/// The slope of the cubic at each point.
std::vector<double> slopes_of(std::span<const double> x, std::span<const double> y) {
  std::vector<double> width, slope;  // of each interval
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    width.push_back(x[i + 1] - x[i]);
    slope.push_back((y[i + 1] - y[i]) / width.back());
  }
  if (slope.size() == 1) return {slope[0], slope[0]};
  std::vector<double> slopes = {end_slope(width[0], width[1], slope[0], slope[1])};
  for (std::size_t i = 1; i < slope.size(); ++i) {
    const double before = 2 * width[i] + width[i - 1], after = width[i] + 2 * width[i - 1];
    const bool turns = slope[i - 1] * slope[i] <= 0;
    slopes.push_back(turns ? 0 : (before + after) / (before / slope[i - 1] + after / slope[i]));
  }
  const std::size_t last = slope.size() - 1;
  slopes.push_back(end_slope(width[last], width[last - 1], slope[last], slope[last - 1]));
  return slopes;
}

/// Points that share a value of the fit.
struct Pool {
  double first, last, mean, weight;

  void take(const Pool& next) {
    mean = (mean * weight + next.mean * next.weight) / (weight + next.weight);
    weight += next.weight;
    last = next.last;
  }
};

/// Values at `at` of the piecewise cubic through the points that is monotone where they are: PCHIP,
/// Fritsch and Butland, "A Method for Constructing Local Monotone Piecewise Cubic Interpolants",
/// 1984, with SciPy's ends. `x` ascends and has no value twice; `at` ascends and lies within it.
/// One point: a constant.
std::vector<double> monotone_cubic(std::span<const double> x, std::span<const double> y,
                                   std::span<const double> at) {
  if (x.size() == 1) return std::vector<double>(at.size(), y[0]);
  const std::vector<double> slopes = slopes_of(x, y);
  std::vector<double> values;
  std::size_t i = 0;
  for (const double place : at) {
    while (i + 2 < x.size() && place > x[i + 1]) ++i;
    const double width = x[i + 1] - x[i], t = (place - x[i]) / width, u = 1 - t;
    values.push_back(u * u * ((1 + 2 * t) * y[i] + t * width * slopes[i]) +
                     t * t * ((1 + 2 * u) * y[i + 1] - u * width * slopes[i + 1]));
  }
  return values;
}

/// Values at `at` (ascending) of the curve that nowhere rises and has the least sum of weighted
/// squared errors: isotonic regression, by pooling adjacent violators. Linear between the points,
/// constant beyond them. `points` ascend by x; some have a weight above 0, and the others are left
/// out.
std::vector<double> falling_regression(std::span<const WeightedPoint> points,
                                       std::span<const double> at) {
  std::vector<Pool> places;  // of one x each
  for (const auto& [x, y, weight] : points) {
    if (weight == 0) continue;
    const Pool point{x, x, y, weight};
    if (!places.empty() && places.back().last == x) {
      places.back().take(point);
    } else {
      places.push_back(point);
    }
  }
  std::vector<Pool> pools;
  for (const Pool& place : places) {
    pools.push_back(place);
    while (pools.size() > 1 && pools[pools.size() - 2].mean < pools.back().mean) {
      const Pool rising = pools.back();
      pools.pop_back();
      pools.back().take(rising);
    }
  }
  std::vector<double> values;
  std::size_t i = 0;
  for (const double place : at) {
    while (i + 1 < pools.size() && pools[i + 1].first <= place) ++i;
    const bool is_between = place > pools[i].last && i + 1 < pools.size();
    const double part =
        is_between ? (place - pools[i].last) / (pools[i + 1].first - pools[i].last) : 0;
    values.push_back(is_between ? std::lerp(pools[i].mean, pools[i + 1].mean, part)
                                : pools[i].mean);
  }
  return values;
}

constexpr double kFrom = 0.01, kTo = 0.95;  // shares of what lies between median and optimum
constexpr std::size_t kPoints = 1000;       // of the range
constexpr int kResamplings = 100;           // the package: one
// The tests' files score within 0.001 of the mean of many calls of the package by these.
constexpr std::uint64_t kResamplingSeed = 12;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// `count` values from `from` to `to`.
std::vector<double> evenly(double from, double to, std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(count - 1);
    values.push_back(std::lerp(from, to, part));
  }
  return values;
}

/// What is known of a space as a whole.
struct Known {
  std::vector<double> times;  // seconds of what works, ascending
  double median_cost = 0;     // seconds of an evaluation
  double mean_cost = 0;       // the package's: the failing ones' share counts on top
};

/// Seconds that an evaluation of random search takes, over those that it takes one at a time.
double pace_of(const RecordedSpace& recorded, int threads) {
  if (threads == 1) return 1;
  const std::vector<ReplayRun> runs =
      replay(recorded, {.strategy = "random", .budget = 500, .seeds = 8, .threads = threads});
  double together = 0, apart = 0;
  for (const ReplayRun& run : runs) {
    together += run.measured_at.back();
    for (const std::size_t index : run.order) apart += recorded.total_seconds[index];
  }
  return together / apart;
}

Known known_of(const RecordedSpace& recorded, int threads) {
  Known known;
  std::vector<double> working, failing;  // costs
  for (const Evaluation& answer : recorded.answers) {
    (answer.seconds ? working : failing).push_back(recorded.total_seconds[answer.index]);
    if (answer.seconds) known.times.push_back(*answer.seconds);
  }
  const auto unknown = std::ranges::count_if(working, [](double cost) { return !(cost > 0); });
  if (working.empty() || unknown > 0) {
    throw Error(format(
        "{}: {} of {} working configurations have no times of compiling and running, which a "
        "score needs: leave out --score",
        recorded.name, unknown, working.size()));
  }
  std::ranges::sort(known.times);
  known.median_cost = quartiles(recorded.total_seconds).median;
  known.mean_cost = mean_of(working);
  if (!failing.empty()) {
    const auto share =
        static_cast<double>(failing.size()) / static_cast<double>(recorded.answers.size());
    known.mean_cost += share * mean_of(failing);
  }
  const double pace = pace_of(recorded, threads);
  known.median_cost *= pace;
  known.mean_cost *= pace;
  return known;
}

/// The evaluations after which random search is expected to have gained this share of what lies
/// between the median and the optimum; nullopt if only the optimum is as fast.
std::optional<std::size_t> evaluations_to(const std::vector<double>& times, double share) {
  const double best = times.front();
  const double target = best + (quartiles(times).median - best) * (1 - share);
  auto slower = times.end() - std::ranges::upper_bound(times, target);
  if (times[times.size() - 1 - static_cast<std::size_t>(slower)] == best && --slower < 0) {
    return std::nullopt;
  }
  const auto i = static_cast<double>(slower), count = static_cast<double>(times.size());
  return static_cast<std::size_t>(std::ceil(i / (count + 1 - i)));
}

/// The best time that random search is expected to have after `evaluations`.
double expected_best(const std::vector<double>& times, double evaluations) {
  const auto count = static_cast<double>(times.size());
  const double slower = std::nearbyint(evaluations * (count + 1) / (evaluations + 1));
  return times[times.size() - 1 - static_cast<std::size_t>(std::min(slower, count - 1))];
}

double evaluations_by(const Known& known, double seconds) {
  return std::nearbyint(std::max(seconds / known.mean_cost, 1.0));
}

ScoreRange range_of(const Known& known, const std::string& name) {
  const auto first = evaluations_to(known.times, kFrom), last = evaluations_to(known.times, kTo);
  const auto seconds = [&](std::size_t count) {
    return static_cast<double>(count) * known.median_cost;
  };
  if (!first || !last || *last < *first + 2 ||
      expected_best(known.times, evaluations_by(known, seconds(*last))) == known.times.front()) {
    throw Error(
        format("{}: {} working configurations are too few for a score, or too many of them are as "
               "fast as the best: random search is at the optimum after a few evaluations",
               name, known.times.size()));
  }
  return {*last, seconds(*first), seconds(*last)};
}

/// The best time that random search is expected to have at each of `at`, in seconds.
std::vector<double> random_search(const Known& known, std::span<const double> at) {
  std::vector<double> evaluations, best;
  for (const double seconds : at) {
    const double count = evaluations_by(known, seconds);
    if (!evaluations.empty() && evaluations.back() == count) continue;
    evaluations.push_back(count);
    best.push_back(expected_best(known.times, count));
  }
  return monotone_cubic(evaluations, best,
                        evenly(evaluations.front(), evaluations.back(), at.size()));
}

/// What all runs together found when.
struct Progress {
  std::vector<WeightedPoint> points;  // x: seconds; y: the rank of the best so far
  double trusted_until = 0;           // seconds: half of the runs went on until then
};

Progress progress_of(const RecordedSpace& recorded, const Known& known, const ScoreRange& range,
                     std::span<const ReplayRun> runs) {
  std::size_t longest = 1;
  for (const ReplayRun& run : runs) longest = std::max(longest, run.order.size());
  const double margin = 0.1 + 0.25 / static_cast<double>(longest);
  Progress progress;
  std::vector<double> ends;
  for (const ReplayRun& run : runs) {
    double best = std::numeric_limits<double>::infinity(), end = 0;
    for (std::size_t i = 0; i < run.order.size(); ++i) {
      const double seconds = run.measured_at[i] + run.own_seconds * static_cast<double>(i + 1);
      best = std::min(best, recorded.answers[run.order[i]].seconds.value_or(best));
      if (best == std::numeric_limits<double>::infinity()) continue;
      end = seconds;
      if (seconds < range.from * (1 - margin) || seconds > range.to * (1 + margin)) continue;
      const auto rank = std::ranges::lower_bound(known.times, best) - known.times.begin();
      progress.points.push_back({seconds, static_cast<double>(rank), 0});
    }
    ends.push_back(end);
  }
  if (progress.points.empty()) {
    throw Error(
        format("{}: no run has a result between {:.3g} and {:.3g} s of tuning, where runs "
               "are scored",
               recorded.name, range.from, range.to));
  }
  std::ranges::sort(progress.points, {}, &WeightedPoint::x);
  std::ranges::sort(ends);
  const auto next = std::ranges::upper_bound(ends, quartiles(ends).median);
  progress.trusted_until = next == ends.end() ? range.to : *next;
  return progress;
}

/// The runs' time at each of `at`: isotonic regressions of resampled points, averaged.
std::vector<double> resampled(Progress& progress, const Known& known, std::size_t runs,
                              std::span<const double> at, RandomSource& random) {
  const std::size_t samples = std::max<std::size_t>(runs, 3);
  const auto size = static_cast<std::size_t>(static_cast<double>(progress.points.size()) /
                                             std::sqrt(static_cast<double>(samples)));
  std::vector<double> ranks(at.size(), 0);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    for (WeightedPoint& point : progress.points) point.weight = 0;
    for (std::size_t i = 0; i < std::max<std::size_t>(size, 1); ++i) {
      ++progress.points[random.below(progress.points.size())].weight;
    }
    const std::vector<double> fit = falling_regression(progress.points, at);
    for (std::size_t i = 0; i < at.size(); ++i) ranks[i] += fit[i];
  }
  std::vector<double> times;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double rank = std::nearbyint(ranks[i] / static_cast<double>(samples));
    const bool is_trusted = i == 0 || at[i - 1] <= progress.trusted_until;
    times.push_back(is_trusted ? known.times[static_cast<std::size_t>(rank)] : times.back());
  }
  return times;
}

}  // namespace

ScoreRange score_range(const RecordedSpace& recorded, int threads) {
  return range_of(known_of(recorded, threads), recorded.name);
}

Score score_of(const RecordedSpace& recorded, std::span<const ReplayRun> runs, int threads) {
  const Known known = known_of(recorded, threads);
  const ScoreRange range = range_of(known, recorded.name);
  const std::vector<double> at = evenly(range.from, range.to, kPoints);
  const std::vector<double> baseline = random_search(known, at);
  Progress progress = progress_of(recorded, known, range, runs);
  RandomSource random(kResamplingSeed);
  std::vector<double> scores;
  for (int i = 0; i < kResamplings; ++i) {
    const std::vector<double> times = resampled(progress, known, runs.size(), at, random);
    double sum = 0;
    for (std::size_t p = 0; p < kPoints; ++p) {
      sum += (baseline[p] - times[p]) / (baseline[p] - known.times.front());
    }
    scores.push_back(sum / kPoints);
  }
  Score score{mean_of(scores), 0};
  for (const double each : scores) score.deviation += std::pow(each - score.mean, 2);
  score.deviation = std::sqrt(score.deviation / kResamplings);
  return score;
}

}  // namespace autotune
