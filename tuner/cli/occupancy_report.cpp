// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/explanation_report.hpp"

#include <cmath>

#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

std::string json_name(Limit limit) {
  std::string name(name_of(limit));
  for (char& letter : name) {
    if (letter == ' ') letter = '_';
  }
  return name;
}

std::string row(std::string_view label, const std::string& text) {
  return format("{:<16}{}\n", label, text);
}

/// A block's share of a resource of the multiprocessor.
std::string use_of(const OccupancyQuestion& question, const Occupancy& answer, Limit limit) {
  const Multiprocessor& sm = question.gpu.sm;
  switch (limit) {
    case Limit::warps:
      return format("{} of {}", (question.shape.threads + 31) / 32, sm.warps);
    case Limit::blocks:
      return format("1 of {}", sm.blocks);
    case Limit::registers:
      return format("{} of {}", answer.registers_per_block, sm.registers);
    case Limit::shared_memory:
      return format("{} of {} bytes", answer.shared_per_block, sm.shared_bytes);
    case Limit::barriers:
      return format("{} of {}", question.shape.barriers, sm.barriers);
    case Limit::clusters:
      return format("{} clusters of {} on the GPU", answer.active_clusters, question.shape.cluster);
  }
  return {};
}

std::string limit_rows(const OccupancyQuestion& question, const Occupancy& answer) {
  std::string text = format("{:<16}{:>6}  {}\n", "limit", "blocks", "a block takes");
  for (int i = 0; i < kLimits; ++i) {
    const auto limit = static_cast<Limit>(i);
    if (answer.limit(limit) == kUnlimited) continue;
    text += format("{:<16}{:>6}  {}{}\n", name_of(limit), answer.limit(limit),
                   use_of(question, answer, limit), answer.limited_by(limit) ? "  <- limits" : "");
  }
  return text;
}

/// The axis label of a sweep: shared memory in KiB.
double unit_of(Swept what) { return what == Swept::shared ? 1.0 / 1024 : 1; }

/// The distance of ticks: about an eighth of `end`, a power of two.
double eighth(double end) { return std::exp2(std::ceil(std::log2(end / 8) - 1e-9)); }

double position_of(const KernelShape& shape, Swept what) {
  switch (what) {
    case Swept::registers:
      return shape.registers;
    case Swept::shared:
      return static_cast<double>(shape.shared_bytes()) * unit_of(what);
    case Swept::block:
      return shape.threads;
  }
  return 0;
}

}  // namespace

std::string limiter_text(const Occupancy& answer) {
  std::string text;
  const std::vector<Limit> limiters = answer.limiters();
  for (std::size_t i = 0; i < limiters.size(); ++i) {
    if (i > 0) text += i + 1 == limiters.size() ? " and " : ", ";
    text += name_of(limiters[i]);
  }
  return text;
}

std::string occupancy_table(const OccupancyQuestion& question, const Occupancy& answer) {
  const GpuSpec& gpu = question.gpu;
  const KernelShape& shape = question.shape;
  std::string text =
      format("{}, compute capability {}.{}, {} multiprocessors\n\n", gpu.name,
             gpu.sm.compute_capability / 10, gpu.sm.compute_capability % 10, gpu.multiprocessors);
  if (!question.kernel.empty()) text += row("kernel", question.kernel);
  const bool sides = question.block.find('x') != std::string::npos;
  text += row("block", format("{} threads{}, {} warps", shape.threads,
                              sides ? " (" + question.block + ")" : "", (shape.threads + 31) / 32));
  text += row("registers", format("{} a thread, {} a block as allocated", shape.registers,
                                  answer.registers_per_block));
  text += row("shared memory", format("{} bytes a block, {} as allocated", shape.shared_bytes(),
                                      answer.shared_per_block));
  text += '\n' + limit_rows(question, answer) + '\n';
  text += row("active blocks", format("{} a multiprocessor", answer.active_blocks));
  text += row("active warps", format("{} of {}", answer.active_warps, gpu.sm.warps));
  text += row("active threads", format("{} of {}", answer.active_threads, gpu.sm.threads));
  text += row("occupancy",
              format("{:.4g} %, limited by {}", 100 * answer.fraction, limiter_text(answer)));
  return text;
}

Json occupancy_json(const OccupancyQuestion& question, const Occupancy& answer) {
  Json limits = Json::object();
  for (int i = 0; i < kLimits; ++i) {
    const auto limit = static_cast<Limit>(i);
    if (answer.limit(limit) != kUnlimited) limits[json_name(limit)] = answer.limit(limit);
  }
  Json limiters = Json::array();
  for (const Limit limit : answer.limiters()) limiters.push_back(json_name(limit));
  Json json{{"gpu", question.gpu.name},
            {"threads", question.shape.threads},
            {"registers", question.shape.registers},
            {"shared_bytes", question.shape.shared_bytes()},
            {"active_blocks", answer.active_blocks},
            {"active_warps", answer.active_warps},
            {"active_threads", answer.active_threads},
            {"occupancy", answer.fraction},
            {"limits", limits},
            {"limiters", limiters},
            {"registers_per_block", answer.registers_per_block},
            {"shared_bytes_per_block", answer.shared_per_block}};
  if (!question.kernel.empty()) json["kernel"] = question.kernel;
  if (question.shape.cluster > 1) json["active_clusters"] = answer.active_clusters;
  return json;
}

Json sweep_json(const OccupancyQuestion& question, Swept what, const SharedOfBlock& shared) {
  static constexpr const char* kNames[] = {"registers", "shared_bytes", "threads"};
  Json points = Json::array();
  for (const SweepPoint& point : sweep(question.gpu, question.shape, what, shared)) {
    points.push_back({{kNames[static_cast<std::size_t>(what)], point.value},
                      {"active_blocks", point.occupancy.active_blocks},
                      {"active_warps", point.occupancy.active_warps},
                      {"occupancy", point.occupancy.fraction}});
  }
  return points;
}

Plot sweep_plot(const OccupancyQuestion& question, Swept what, const SharedOfBlock& shared) {
  static constexpr const char* kLabels[] = {"registers a thread", "shared memory a block (KiB)",
                                            "threads a block"};
  Plot plot;
  plot.title = format("Active warps of {} on {}", question.gpu.sm.warps, question.gpu.name);
  plot.y = {.label = "active warps",
            .low = 0,
            .high = question.gpu.sm.warps,
            .step = question.gpu.sm.warps / 4};
  Series curve{"", Stroke::line, {}};
  for (const SweepPoint& point : sweep(question.gpu, question.shape, what, shared)) {
    const double x = static_cast<double>(point.value) * unit_of(what);
    // A step plot: occupancy changes at single values.
    if (what != Swept::block && !curve.points.empty()) {
      curve.points.push_back({x, curve.points.back().y});
    }
    curve.points.push_back({x, static_cast<double>(point.occupancy.active_warps)});
  }
  plot.x = {.label = kLabels[static_cast<std::size_t>(what)],
            .low = 0,
            .high = curve.points.back().x,
            .step = eighth(curve.points.back().x)};
  const Occupancy answer = occupancy(question.gpu, question.shape);
  Series here{"this kernel",
              Stroke::mark,
              {{position_of(question.shape, what), static_cast<double>(answer.active_warps)}}};
  plot.series = {std::move(curve), std::move(here)};
  return plot;
}

}  // namespace autotune::cli
