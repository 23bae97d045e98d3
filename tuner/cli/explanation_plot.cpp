// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/explanation_plot.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

constexpr double kTera = 1e-12;
constexpr double kMicro = 1e6;  // microseconds in one second

Plot roofline(const Explanation& explanation) {
  const GpuSpec& gpu = explanation.gpu;
  const double fma_peak = gpu.flops_per_second() * kTera;
  const double tensor_peak = explanation.tensor_roof * kTera;
  const double peak = std::max(fma_peak, tensor_peak);
  Plot plot;
  plot.x = {.label = "FLOPs a byte through L2", .logarithmic = true};
  plot.y = {.label = "TFLOP/s", .logarithmic = true};
  Series tried{"tried", Stroke::dots, {}}, best{"best", Stroke::mark, {}};
  double low = std::numeric_limits<double>::infinity(), high = 0;
  const auto add = [&](Series& series, double intensity, double flops_per_second) {
    if (intensity <= 0) return;
    series.points.push_back({intensity, flops_per_second * kTera});
    low = std::min(low, intensity);
    high = std::max(high, intensity);
  };
  for (const ExplainedTrial& trial : explanation.timed) {
    if (trial.configuration == explanation.best) continue;
    add(tried, trial.l2_intensity, trial.flops_per_second);
  }
  if (explanation.seconds && explanation.input.work.l2_bytes > 0) {
    add(best, explanation.flops / explanation.input.work.l2_bytes,
        explanation.flops / *explanation.seconds);
  }
  // The x axis includes the ridge. It goes from half of the least value to twice the largest.
  const double ridge = peak / kTera / l2_roof(explanation);
  low = std::min(low, ridge) / 2;
  high = std::max(high, ridge) * 2;
  plot.series = {{tensor_peak > fma_peak ? "tensor and L2 roofs" : "FMA and L2 roofs",
                  Stroke::line,
                  {{low, low / ridge * peak}, {ridge, peak}, {high, peak}}}};
  if (tensor_peak > fma_peak) {
    plot.series.push_back(
        {"FMA roof", Stroke::line, {{ridge * fma_peak / peak, fma_peak}, {high, fma_peak}}});
  }
  if (memory_roof(explanation) > 0 && memory_roof(explanation) * kTera < peak) {
    const double roof = memory_roof(explanation) * kTera;
    plot.series.push_back({"memory roof", Stroke::line, {{low, roof}, {high, roof}}});
  }
  plot.series.push_back(std::move(tried));
  plot.series.push_back(std::move(best));
  return plot;
}

/// The best configuration is drawn with its time in the search; the playoff's is of another moment.
Plot ranking(const Explanation& explanation) {
  constexpr double kFewRanks = 8;
  Series tried{"tried", Stroke::dots, {}}, best{"best", Stroke::mark, {}};
  double rank = 0;
  for (const ExplainedTrial& trial : explanation.timed) {
    Series& series = trial.configuration == explanation.best ? best : tried;
    series.points.push_back({++rank, trial.seconds * kMicro});
  }
  Plot plot;
  plot.x = {.label = "timed configurations, fastest first", .low = 0, .high = rank + 1};
  if (rank <= kFewRanks) plot.x.step = 1;
  plot.y = {.label = "microseconds", .logarithmic = true};
  if (explanation.default_seconds) {
    const double seconds = *explanation.default_seconds * kMicro;
    plot.series.push_back({"default", Stroke::line, {{0, seconds}, {rank + 1, seconds}}});
  }
  plot.series.push_back(std::move(tried));
  plot.series.push_back(std::move(best));
  return plot;
}

}  // namespace

bool is_gpu(const Explanation& explanation) { return explanation.gpu.sm.compute_capability > 0; }

double l2_roof(const Explanation& explanation) {
  const GpuSpec& gpu = explanation.gpu;
  return explanation.calibration.l2_bytes_per_cycle * gpu.multiprocessors * gpu.clock_hz;
}

double memory_roof(const Explanation& explanation) {
  return explanation.estimate.intensity * explanation.gpu.memory_bytes_per_second;
}

Plot plot_of(const Explanation& explanation, const std::string& title) {
  const bool under_roofs = is_gpu(explanation) && explanation.flops > 0;
  Plot plot = under_roofs ? roofline(explanation) : ranking(explanation);
  plot.title = title;
  std::erase_if(plot.series, [](const Series& series) { return series.points.empty(); });
  return plot;
}

}  // namespace autotune::cli
