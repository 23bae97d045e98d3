// SPDX-License-Identifier: Apache-2.0
// The report as JSON and as plots.
#include <algorithm>

#include "bench/gemm/report.hpp"
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
  json["cublas_lt_rival"] = standing.lt_rival ? Json(size.rivals[*standing.lt_rival].name) : Json();
  json["ratio"] = {{"median", standing.ratio.median},
                   {"low", standing.ratio.low},
                   {"high", standing.ratio.high}};
  json["tflops"] = size.shape.flops() / standing.ours.median * 1e-12;
  return json;
}

Json json_of(const Rival& rival) {
  return {{"name", rival.name},
          {"choice", rival.choice},
          {"kernels", rival.kernels},
          {"frobenius_error", rival.accuracy.frobenius},
          {"worst_error_of_bound", rival.accuracy.worst}};
}

Json json_of(const SizeResult& size) {
  Json json{{"M", size.shape.m}, {"N", size.shape.n}, {"K", size.shape.k}};
  json["hot"] = json_of(size, size.hot);
  json["cold"] = json_of(size, size.cold);
  json["rivals"] = Json::array();
  for (const Rival& rival : size.rivals) json["rivals"].push_back(json_of(rival));
  return json;
}

std::vector<const SizeResult*> squares_of(const Report& report) {
  std::vector<const SizeResult*> sizes;
  for (const SizeResult& size : report.sizes) {
    if (size.shape.is_square()) sizes.push_back(&size);
  }
  std::ranges::sort(sizes, {}, [](const SizeResult* size) { return size->shape.m; });
  return sizes;
}

/// A line over the square sizes; `figure` gives y.
template <class Figure>
Series line(const std::string& name, const std::vector<const SizeResult*>& sizes, Figure figure) {
  Series series{name, Stroke::line, {}};
  for (const SizeResult* size : sizes) {
    series.points.push_back({static_cast<double>(size->shape.m), figure(*size)});
  }
  return series;
}

double tflops(const SizeResult& size, double seconds) {
  return size.shape.flops() / seconds * 1e-12;
}

}  // namespace

std::string json_text(const Report& report) {
  Json json{{"device", report.device}, {"environment", report.environment}};
  json["ffma_tflops"] = report.ffma_flops * 1e-12;
  json["empty_kernel_us"] = report.empty_seconds * kMicroseconds;
  json["sizes"] = Json::array();
  for (const SizeResult& size : report.sizes) json["sizes"].push_back(json_of(size));
  json["geometric_means"] = Json::array();
  for (const Group& group : groups()) {
    const GroupMean mean = mean_of(report, group);
    if (mean.count == 0) continue;
    json["geometric_means"].push_back(
        {{"sizes", group.name}, {"count", mean.count}, {"hot", mean.hot}, {"cold", mean.cold}});
  }
  json["skipped"] = Json::array();
  for (const Shape& shape : report.skipped) json["skipped"].push_back(shape.text());
  json["failed"] = report.failed;
  return json.dump(2) + "\n";
}

std::string svg_text(const Report& report) {
  const auto sizes = squares_of(report);
  Plot rates{"f32 matrix product on " + report.device,
             {"M = N = K", true, {}, {}},
             {"TFLOP/s", false, 0.0, report.ffma_flops * 1.35e-12},
             {}};
  rates.series = {
      line("autotune", sizes, [](const SizeResult& s) { return tflops(s, s.hot.ours.median); }),
      line("cublasSgemm", sizes, [](const SizeResult& s) { return tflops(s, s.hot.sgemm.median); }),
      line("best of cublasLt", sizes,
           [](const SizeResult& s) {
             return tflops(s, s.hot.lt ? s.hot.lt->median : s.hot.sgemm.median);
           }),
      line("FFMA loop", sizes, [&](const SizeResult&) { return report.ffma_flops * 1e-12; })};
  Plot ratios{"best of cuBLAS / autotune, times",
              {"M = N = K", true, {}, {}},
              {"ratio", false, {}, {}},
              {}};
  ratios.series = {line("hot L2", sizes, [](const SizeResult& s) { return s.hot.ratio.median; }),
                   line("cold L2", sizes, [](const SizeResult& s) { return s.cold.ratio.median; }),
                   line("equal", sizes, [](const SizeResult&) { return 1.0; })};
  const Plot plots[] = {rates, ratios};
  return svg_plots(plots);
}

}  // namespace autotune::bench
