// SPDX-License-Identifier: Apache-2.0
// The report as JSON and as plots.
#include <algorithm>
#include <cmath>

#include "bench/gemm/report.hpp"
#include "bench/gemm/svg_plots.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/plot.hpp"

namespace autotune::bench {
namespace {

constexpr double kMicroseconds = 1e6;

Json json_of(const Measurement& measurement) {
  return {{"median_us", measurement.median * kMicroseconds},
          {"low_us", measurement.low * kMicroseconds},
          {"high_us", measurement.high * kMicroseconds},
          {"samples", measurement.samples}};
}

Json json_of(const SizeResult& size, const Standing& standing) {
  Json json{{"ours", json_of(standing.ours)}, {"cublas_sgemm", json_of(standing.sgemm)}};
  json["cublas_lt"] = standing.lt ? json_of(*standing.lt) : Json();
  json["cublas_lt_candidate"] =
      standing.lt_candidate ? Json(size.implementations[*standing.lt_candidate].name) : Json();
  json["ratio"] = {{"median", standing.ratio.median},
                   {"low", standing.ratio.low},
                   {"high", standing.ratio.high}};
  json["tflops"] = size.shape.flops() / standing.ours.median * 1e-12;
  return json;
}

Json json_of(const GraphEdges& edges) {
  return {{"full", edges.full}, {"programmatic", edges.programmatic}};
}

Json json_of(const ImplementationInfo& info) {
  return {{"name", info.name},
          {"choice", info.choice},
          {"kernels", info.kernels},
          {"frobenius_error", info.accuracy.frobenius},
          {"worst_error_of_bound", info.accuracy.worst},
          {"edges",
           {{"calls", kEdgeCalls},
            {"chain", json_of(info.chain_edges)},
            {"between", json_of(info.between_edges)}}}};
}

Json json_of(const SizeResult& size) {
  Json json{{"M", size.shape.m}, {"N", size.shape.n}, {"K", size.shape.k}};
  json["hot"] = json_of(size, size.hot);
  json["cold"] = json_of(size, size.cold);
  json["between"] = json_of(size, size.between);
  json["alone"] = json_of(size, size.alone);
  if (size.rested) json["rested"] = json_of(size, *size.rested);
  if (size.sustained) json["sustained"] = json_of(size, *size.sustained);
  json["implementations"] = Json::array();
  for (const ImplementationInfo& info : size.implementations)
    json["implementations"].push_back(json_of(info));
  return json;
}

/// Square sizes that are multiples of 64, in rising order; and all other square sizes.
struct Squares {
  std::vector<const SizeResult*> even, odd;
};

Squares squares_of(const Report& report) {
  Squares squares;
  for (const SizeResult& size : report.sizes) {
    if (!size.shape.is_square()) continue;
    (size.shape.m % 64 == 0 ? squares.even : squares.odd).push_back(&size);
  }
  std::ranges::sort(squares.even, {}, [](const SizeResult* size) { return size->shape.m; });
  return squares;
}

/// Begins at a power of two, so that the ticks are powers of two.
Axis size_axis(const Squares& squares) {
  Axis axis{"M = N = K", true, {}, {}};
  if (!squares.even.empty()) {
    const auto least = static_cast<double>(squares.even.front()->shape.m);
    axis.low = std::exp2(std::floor(std::log2(least)));
  }
  return axis;
}

/// `figure` returns the y value of a size.
template <class Figure>
Series series(const std::string& name, Stroke stroke, const std::vector<const SizeResult*>& sizes,
              Figure figure) {
  Series drawn{name, stroke, {}};
  for (const SizeResult* size : sizes) {
    drawn.points.push_back({static_cast<double>(size->shape.m), figure(*size)});
  }
  return drawn;
}

double tflops(const SizeResult& size, double seconds) {
  return size.shape.flops() / seconds * 1e-12;
}

}  // namespace

std::string json_text(const Report& report) {
  Json json{{"device", report.device}, {"environment", report.environment}};
  json["ffma_tflops"] = report.ffma_flops * 1e-12;
  json["copy_gb_s"] = report.copy_bytes * 1e-9;
  json["empty_kernel_us"] = report.empty_seconds * kMicroseconds;
  json["sizes"] = Json::array();
  for (const SizeResult& size : report.sizes) json["sizes"].push_back(json_of(size));
  json["geometric_means"] = Json::array();
  for (const Group& group : groups()) {
    const GroupMean mean = mean_of(report, group);
    if (mean.count == 0) continue;
    json["geometric_means"].push_back({{"sizes", group.name},
                                       {"count", mean.count},
                                       {"between", mean.between},
                                       {"hot", mean.hot},
                                       {"alone", mean.alone},
                                       {"cold", mean.cold}});
  }
  json["skipped"] = Json::array();
  for (const Shape& shape : report.skipped) json["skipped"].push_back(shape.text());
  json["failed"] = report.failed;
  return json.dump(2) + "\n";
}

std::string svg_text(const Report& report) {
  const Squares squares = squares_of(report);
  const auto ours = [](const SizeResult& s) { return tflops(s, s.hot.ours.median); };
  const auto vendor = [](const SizeResult& s) {
    const double sgemm = s.hot.sgemm.median;
    return tflops(s, s.hot.lt ? std::min(sgemm, s.hot.lt->median) : sgemm);
  };
  const auto ffma = [&](const SizeResult&) { return report.ffma_flops * 1e-12; };
  const auto hot = [](const SizeResult& s) { return s.hot.ratio.median; };
  const auto cold = [](const SizeResult& s) { return s.cold.ratio.median; };
  const auto equal = [](const SizeResult&) { return 1.0; };
  const Axis size = size_axis(squares);
  const std::vector<Plot> plots{
      {"f32 matrix product on " + report.device,
       size,
       {"TFLOP/s", false, 0.0, report.ffma_flops * 1.1e-12},
       {series("autotune", Stroke::line, squares.even, ours),
        series("best of cuBLAS", Stroke::line, squares.even, vendor),
        series("a loop of FFMA alone", Stroke::line, squares.even, ffma),
        series("autotune, odd sizes", Stroke::dots, squares.odd, ours),
        series("best of cuBLAS, odd sizes", Stroke::dots, squares.odd, vendor)}},
      {"best of cuBLAS / autotune, times",
       size,
       {"ratio", false, 0.0, {}},
       {series("hot L2", Stroke::line, squares.even, hot),
        series("cold L2", Stroke::line, squares.even, cold),
        series("equal", Stroke::line, squares.even, equal),
        series("hot L2, odd sizes", Stroke::dots, squares.odd, hot),
        series("cold L2, odd sizes", Stroke::dots, squares.odd, cold)}}};
  return svg_plots(plots);
}

}  // namespace autotune::bench
