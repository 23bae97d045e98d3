// SPDX-License-Identifier: Apache-2.0
// Times at sizes that were not tuned: libautotune's answer compared with cuBLAS, on GPU 0.
//   untuned_bench --db FILE [--count N] [--seed S] [--between yes|no]
//                 [--shipped yes|no] [--first-use-ms N] [--units any|fp32]
//                 [--tuned-only yes|no] [--least-volume MNK]
// Draws shapes with M, N and K log-uniform in 1..4096, half of them odd. Each is looked up,
// prepared and launched through the C API as any program does it. With --first-use-ms, preparing
// races the likely ones and stores the results in the database: give it a copy. With
// --tuned-only, the vendor's library is never called. With --least-volume, smaller products are
// left out. Times are of calls between small ordinary kernels, whose own time is subtracted, or
// with
// --between no of a chain of calls. Every result is verified. Prints a line a shape, then the
// summary.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <optional>
#include <random>

#include "bench/lookup/shape_race.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

using namespace autotune;
using namespace autotune::bench;

namespace {

constexpr double kLargeVolume = 1 << 24;

using Options = std::map<std::string, std::string>;

Options options_of(int argc, char** argv) {
  Options options{
      {"--db", ""},           {"--count", "200"},   {"--seed", "1"},    {"--first-use-ms", "0"},
      {"--between", "yes"},   {"--shipped", "yes"}, {"--units", "any"}, {"--tuned-only", "no"},
      {"--least-volume", "0"}};
  for (int i = 1; i < argc; i += 2) {
    if (!options.contains(argv[i]) || i + 1 == argc) {
      throw UsageError(
          format("{}: it is unknown, or lacks its value; the head of {} lists the "
                 "options",
                 argv[i], "bench/lookup/untuned_bench.cpp"));
    }
    options[argv[i]] = argv[i + 1];
  }
  return options;
}

std::vector<Shape> drawn(int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> log2_of_size(0, 12);
  const auto draw = [&](bool odd) {
    const auto size = static_cast<std::int64_t>(std::llround(std::exp2(log2_of_size(random))));
    return odd && size % 2 == 0 ? size - 1 : size;
  };
  std::vector<Shape> shapes;
  for (int i = 0; i < count; ++i) {
    const bool odd = i % 2 == 1;
    const std::int64_t m = draw(odd), n = draw(odd), k = draw(odd);
    shapes.push_back(
        {std::max<std::int64_t>(m, 1), std::max<std::int64_t>(n, 1), std::max<std::int64_t>(k, 1)});
  }
  return shapes;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Row {
  Shape shape;
  double ours = 0, sgemm = 0, first = 0, best = 0;  // seconds; of cublasLt's first, of all
  double choose = 0, prepare = 0;                   // seconds
  double expected = 0;                              // seconds
  std::string target;                               // that answered, or "a library"
  std::string how;
};

class Benchmark {
 public:
  explicit Benchmark(const Options& options)
      : race_(options.at("--between") == "yes", options.at("--db")),
        gemm_(opened({.target = "gemm",
                      .database = options.at("--db"),
                      .shipped = options.at("--shipped") == "yes",
                      .first_use_ms = std::stoll(options.at("--first-use-ms")),
                      .settings = "units=" + options.at("--units"),
                      .tuned_only = options.at("--tuned-only") == "yes"})) {}

  const char* warnings() const { return autotune_warnings(gemm_.get()); }

  Row run(const Shape& shape) {
    Row row{shape, 0, 0, 0, 0, 0, 0, 0, {}, {}};
    const std::array sizes{shape.m, shape.n, shape.k};
    autotune_answer answer{};
    answer.size = sizeof answer;
    auto start = std::chrono::steady_clock::now();
    check(autotune_lookup(gemm_.get(), sizes.data(), sizes.size(), &answer));
    row.choose = seconds_since(start);
    start = std::chrono::steady_clock::now();
    const Kernel kernel = prepared(gemm_.get(), sizes);
    row.prepare = seconds_since(start);
    const char* engine = nullptr;
    autotune_kernel_engine(kernel.get(), &engine);
    check(autotune_lookup(gemm_.get(), sizes.data(), sizes.size(), &answer));  // after a race
    row.expected = 1e-9 * (*engine ? answer.baseline_ns : answer.expected_ns);
    row.target = *engine ? "a library" : answer.target;
    row.how = format("{}: {}", answer.target,
                     *engine ? engine : autotune_kernel_configuration(kernel.get()));
    time(row, kernel);
    return row;
  }

 private:
  void time(Row& row, const Kernel& kernel) const {
    const Operands operands = race_.operands(row.shape);
    std::vector<Implementation> implementations = race_.vendor(operands);
    implementations.insert(implementations.begin(), race_.tuned(kernel, operands));
    const std::vector<double> times = race_.seconds(operands, implementations);
    row.ours = times[0];
    row.sgemm = times[1];
    row.first = times.size() > 2 ? times[2] : times[1];
    row.best = *std::min_element(times.begin() + 1, times.end());
  }

  ShapeRace race_;
  Handle gemm_;
};

void summarize(const std::vector<Row>& rows, bool large) {
  std::vector<double> first, all;
  for (const Row& row : rows) {
    if ((row.shape.flops() / 2 >= kLargeVolume) != large) continue;
    first.push_back(std::min(row.sgemm, row.first) / row.ours);
    all.push_back(row.best / row.ours);
  }
  const auto print = [](const char* against, std::vector<double> ratios) {
    if (ratios.empty()) return;
    double logs = 0;
    for (const double ratio : ratios) logs += std::log(ratio);
    std::ranges::sort(ratios);
    const auto good = std::ranges::count_if(ratios, [](double ratio) { return ratio >= 0.95; });
    std::printf("  against %s: geometric mean %.3f, %.1f %% at least 0.95, least %.2f\n", against,
                std::exp(logs / static_cast<double>(ratios.size())),
                100.0 * static_cast<double>(good) / static_cast<double>(ratios.size()), ratios[0]);
  };
  std::printf("%zu shapes with MNK %s 2^24\n", first.size(), large ? "from" : "below");
  print("cublasSgemm and cublasLt's first", first);
  print("all candidates of cuBLAS", all);
}

void print_times(const char* what, const std::vector<Row>& rows, double Row::*seconds) {
  std::vector<double> times;
  for (const Row& row : rows) times.push_back(row.*seconds);
  if (times.empty()) return;
  std::ranges::sort(times);
  std::printf("%s: median %.2f ms, at most %.2f ms\n", what, times[times.size() / 2] * 1e3,
              times.back() * 1e3);
}

void print_answers(const std::vector<Row>& rows) {
  std::map<std::string, int> counts;
  std::vector<double> errors;
  for (const Row& row : rows) {
    ++counts[row.target];
    if (row.expected > 0) errors.push_back(std::abs(row.ours / row.expected - 1));
  }
  for (const auto& [target, count] : counts) std::printf("%s answered %d\n", target.c_str(), count);
  if (errors.empty()) return;
  std::ranges::sort(errors);
  std::printf("expected times: median error %.0f %%, 95 %% of them at most %.0f %%\n",
              100 * errors[errors.size() / 2], 100 * errors[errors.size() * 95 / 100]);
}

int run(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  Benchmark benchmark(options);
  std::vector<Row> rows;
  int failed = 0;
  std::printf(
      "us a call: ours, cublasSgemm, cublasLt's first, the best of cuBLAS; us that were expected "
      "of ours; ms: choose, prepare; the target that answered\n");
  for (const Shape& shape :
       drawn(std::stoi(options.at("--count")), std::stoull(options.at("--seed")))) {
    if (shape.flops() / 2 < std::stod(options.at("--least-volume"))) continue;
    try {
      const Row row = benchmark.run(shape);
      std::printf("%s %.2f %.2f %.2f %.2f, %.2f, %.2f %.0f: %s\n", shape.text().c_str(),
                  row.ours * 1e6, row.sgemm * 1e6, row.first * 1e6, row.best * 1e6,
                  row.expected * 1e6, row.choose * 1e3, row.prepare * 1e3, row.how.c_str());
      rows.push_back(row);
    } catch (const std::exception& error) {
      ++failed;
      std::printf("%s FAILED: %s\n", shape.text().c_str(), error.what());
    }
  }
  std::cerr << benchmark.warnings();
  print_times("choosing", rows, &Row::choose);
  print_times("preparing", rows, &Row::prepare);
  print_answers(rows);
  summarize(rows, true);
  summarize(rows, false);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc, argv);
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
