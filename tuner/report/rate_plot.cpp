// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/rate_plot.hpp"

#include <algorithm>
#include <map>

#include "tuner/text/format.hpp"
#include "tuner/text/plot.hpp"

namespace autotune::report {
namespace {

constexpr double kPerNanosecond = 1e9;

using Group = std::vector<const ReportedProblem*>;

/// All problems are cubes: their side. Else their work.
double place_of(const ReportedProblem& problem, bool by_side) {
  if (by_side) return static_cast<double>(*problem.side);
  return problem.work.flops > 0 ? problem.work.flops : problem.work.bytes;
}

Plot plot_of(const std::string& title, const Group& group) {
  const bool by_side =
      std::ranges::all_of(group, [](const auto* one) { return one->side.has_value(); });
  const bool is_flops = group.front()->work.flops > 0;
  Plot plot;
  plot.title = title;
  plot.x = {.label = by_side ? "size" : is_flops ? "FLOPs" : "bytes", .logarithmic = true};
  plot.y = {.label = is_flops ? "TFLOP/s" : "GB/s", .logarithmic = true};
  const double unit = is_flops ? 1e12 : 1e9;
  Series best{"best", Stroke::mark, {}}, by_default{"default", Stroke::dots, {}};
  Series rival{"", Stroke::dots, {}};
  for (const ReportedProblem* one : group) {
    const db::BestRow& row = one->entry.best;
    const double x = place_of(*one, by_side);
    const double work = is_flops ? one->work.flops : one->work.bytes;
    const auto add = [&](Series& series, const std::optional<double>& ns) {
      const bool is_known = ns && *ns > 0 && x > 0 && work > 0;
      if (is_known) series.points.push_back({x, work / *ns * kPerNanosecond / unit});
    };
    add(best, row.median_ns);
    add(by_default, row.default_ns);
    add(rival, row.baseline.ns);
    if (row.baseline.ns) rival.name = row.baseline.plugin;
  }
  plot.series = {std::move(by_default), std::move(rival), std::move(best)};
  std::erase_if(plot.series, [](const Series& series) { return series.points.empty(); });
  return plot;
}

}  // namespace

std::string rate_svg(const Report& report) {
  std::map<std::string, Group> groups;
  for (const ReportedProblem& problem : report.problems) {
    const std::string title =
        format("{} on {}", problem.entry.kernel.target, problem.entry.device.name);
    groups[title].push_back(&problem);
  }
  std::vector<Plot> plots;
  for (const auto& [title, group] : groups) {
    plots.push_back(plot_of(title, group));
    if (plots.back().series.empty()) plots.pop_back();
  }
  return plots.empty() ? "" : svg_plots(plots);
}

}  // namespace autotune::report
