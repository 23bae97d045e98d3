// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/report.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "tuner/text/format.hpp"

namespace autotune::bench {
namespace {

std::vector<Shape> squares(std::int64_t step) {
  std::vector<Shape> shapes;
  for (std::int64_t n = 128; n <= 1024; n += step) shapes.push_back({n, n, n});
  return shapes;
}

std::string microseconds(double seconds) {
  const double figure = seconds * 1e6;
  return format("{:.{}f}", figure, figure < 100 ? 2 : figure < 1000 ? 1 : 0);
}

std::string row_of(const Report& report, const SizeResult& size) {
  const double rate = size.shape.flops() / size.hot.ours.median;
  const std::string lt = size.hot.lt ? microseconds(size.hot.lt->median) : "-";
  return format(
      "{:>14} {:>9} {:>9} {:>9}  {:5.2f} [{:.2f}, {:.2f}] {:>9} {:5.2f} [{:.2f}, {:.2f}] {:>7.2f} "
      "{:>5.1f} %\n",
      size.shape.text(), microseconds(size.hot.ours.median), microseconds(size.hot.sgemm.median),
      lt, size.hot.ratio.median, size.hot.ratio.low, size.hot.ratio.high,
      microseconds(size.cold.ours.median), size.cold.ratio.median, size.cold.ratio.low,
      size.cold.ratio.high, rate * 1e-12, 100 * rate / report.ffma_flops);
}

double best_of_cublas(const Standing& standing) {
  return standing.lt_is_best ? standing.lt->median : standing.sgemm.median;
}

std::string columns_of(const Standing& standing) {
  return format(" {:>9} {:>9} {:5.2f} [{:.2f}, {:.2f}]", microseconds(standing.ours.median),
                microseconds(best_of_cublas(standing)), standing.ratio.median, standing.ratio.low,
                standing.ratio.high);
}

/// One row per size: the times in each context of a call.
std::string contexts_text(const Report& report) {
  std::string text = format("by context, hot L2 (docs/measuring.md)\n{:>14}", "M x N x K");
  for (const char* context : {"between", "chain", "alone"}) {
    text += format(" {:>9} {:>9} {:<18}", context, "cuBLAS", "ratio");
  }
  text += '\n';
  for (const SizeResult& size : report.sizes) {
    text += format("{:>14}{}{}{}\n", size.shape.text(), columns_of(size.between),
                   columns_of(size.hot), columns_of(size.alone));
  }
  return text;
}

/// One row per long product.
std::string solo_text(const Report& report) {
  std::string text;
  for (const SizeResult& size : report.sizes) {
    if (!size.rested || !size.sustained) continue;
    text += format("{:>14}{}{} {:>7.2f}\n", size.shape.text(), columns_of(*size.rested),
                   columns_of(*size.sustained),
                   size.shape.flops() / size.sustained->ours.median * 1e-12);
  }
  if (text.empty()) return text;
  std::string head =
      "one after another, each after 200 ms of idle time: a batch, and the second "
      "half of 500 ms of batches\n";
  head += format("{:>14}", "M x N x K");
  for (const char* way : {"rested", "sustained"}) {
    head += format(" {:>9} {:>9} {:<18}", way, "cuBLAS", "ratio");
  }
  return head + format(" {:>7}\n", "TFLOP/s") + text;
}

std::string edges_text(const ImplementationInfo& info) {
  const auto counted = [](const GraphEdges& edges) {
    return format("{} full, {} programmatic", edges.full, edges.programmatic);
  };
  return format("edges of {} calls: {} in a chain; {} between others", kEdgeCalls,
                counted(info.chain_edges), counted(info.between_edges));
}

/// For a memory-bound size, its share of a copy's bandwidth; else empty.
std::string copy_share(const Report& report, const SizeResult& size) {
  if (report.copy_bytes == 0) return "";
  const double seconds = size.shape.bytes() / report.copy_bytes;
  if (seconds < size.shape.flops() / report.ffma_flops) return "";
  return format("{}: {:.1f} % of the {:.0f} GB/s of a device copy\n", size.shape.text(),
                100 * seconds / size.hot.ours.median, report.copy_bytes * 1e-9);
}

std::string losses(const Report& report) {
  std::string names;
  for (const SizeResult& size : report.sizes) {
    if (size.hot.ratio.median >= 1) continue;
    names += format("{}{} ({:.2f})", names.empty() ? "" : ", ", size.shape.text(),
                    size.hot.ratio.median);
  }
  return format("cuBLAS wins at {}\n", names.empty() ? "none of these sizes" : names);
}

}  // namespace

std::string Shape::text() const {
  return is_square() ? format("{}", m) : format("{}x{}x{}", m, n, k);
}

const std::vector<Group>& groups() {
  static const std::vector<Group> all{
      {"128..1024 by 128", squares(128)},
      {"128..1024 by 64", squares(64)},
      {"2048, 4096, 8192", {{2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}}},
      {"odd shapes",
       {{127, 127, 127},
        {129, 129, 129},
        {257, 257, 257},
        {1000, 1000, 1000},
        {1023, 1023, 1023},
        {1025, 1025, 1025},
        {1037, 1031, 1055}}},
      {"tall and skinny", {{1, 4096, 4096}, {8, 4096, 4096}, {64, 4096, 4096}, {128, 128, 8192}}}};
  return all;
}

GroupMean mean_of(const Report& report, const Group& group) {
  GroupMean mean;
  double hot = 0, cold = 0, between = 0, alone = 0;
  for (const SizeResult& size : report.sizes) {
    if (std::ranges::find(group.shapes, size.shape) == group.shapes.end()) continue;
    ++mean.count;
    hot += std::log(size.hot.ratio.median);
    cold += std::log(size.cold.ratio.median);
    between += std::log(size.between.ratio.median);
    alone += std::log(size.alone.ratio.median);
  }
  if (mean.count == 0) return mean;
  mean.hot = std::exp(hot / mean.count);
  mean.cold = std::exp(cold / mean.count);
  mean.between = std::exp(between / mean.count);
  mean.alone = std::exp(alone / mean.count);
  return mean;
}

std::string readable_name(const std::string& kernel) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(kernel.c_str(), nullptr, nullptr, &status), &std::free);
  if (!demangled) return kernel;
  std::string name = demangled.get();
  if (name.starts_with("void ")) name.erase(0, 5);
  int depth = 0;  // the arguments are the first parenthesis outside <>
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0) return name.substr(0, i);
  }
  return name;
}

std::string launched_text(const SizeResult& size) {
  std::vector<std::size_t> shown{kOurs, kSgemm};
  if (size.hot.lt_candidate) shown.push_back(*size.hot.lt_candidate);
  std::string text;
  for (const std::size_t i : shown) {
    const ImplementationInfo& info = size.implementations[i];
    std::string kernels;
    for (const std::string& kernel : info.kernels) {
      kernels += (kernels.empty() ? "" : ", ") + kernel;
    }
    text += format("{} {}: {}{}{}; error {:.1e} of all, {:.2g} of the bound; {}\n",
                   size.shape.text(), info.name, info.choice, info.choice.empty() ? "" : ": ",
                   kernels, info.accuracy.frobenius, info.accuracy.worst, edges_text(info));
  }
  return text;
}

std::string table_text(const Report& report) {
  std::string text = format(
      "{} ({}): a pure FFMA loop reaches {:.1f} TFLOP/s, an empty kernel takes {} us\n"
      "times in us, of one call in a chain; ratio: the better of cublasSgemm and cublasLt over "
      "ours, with its "
      "95 % interval\n",
      report.device, report.environment, report.ffma_flops * 1e-12,
      microseconds(report.empty_seconds));
  text +=
      format("{:>14} {:>9} {:>9} {:>9}  {:<18} {:>9} {:<18} {:>7} {:>7}\n", "M x N x K", "ours",
             "Sgemm", "Lt", "ratio, hot L2", "ours cold", "ratio, cold L2", "TFLOP/s", "of FFMA");
  for (const SizeResult& size : report.sizes) text += row_of(report, size);
  text += contexts_text(report) + solo_text(report);
  for (const Group& group : groups()) {
    const GroupMean mean = mean_of(report, group);
    if (mean.count == 0) continue;
    text += format(
        "{}, geometric mean of {}: {:.2f} between, {:.2f} chain, {:.2f} alone; {:.2f} chain, "
        "cold\n",
        group.name, mean.count, mean.between, mean.hot, mean.alone, mean.cold);
  }
  for (const SizeResult& size : report.sizes) text += copy_share(report, size);
  text += losses(report);
  for (const Shape& shape : report.skipped) {
    text += format("{}: skipped, because the database has no configuration for it\n", shape.text());
  }
  for (const std::string& sentence : report.failed) text += "failed: " + sentence + "\n";
  return text;
}

}  // namespace autotune::bench
