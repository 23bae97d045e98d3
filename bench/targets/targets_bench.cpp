// SPDX-License-Identifier: Apache-2.0
// Bandwidth of the memory-bound targets as a share of a plain copy's, and published experiments
// repeated on this GPU. Prints the tables of docs/targets.md.
//   targets_bench [copy] [filters] [additions]   default: all; AUTOTUNE_KERNEL_PATH says where
//   targets are
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <thread>

#include "bench/copy_rate.hpp"
#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/session/tuning_request.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace {

using namespace autotune;

constexpr std::int64_t kElements = std::int64_t{1} << 26;
constexpr double kGiga = 1e9;

struct Problems {
  const char* target;
  NamedValues sizes, settings;
};

template <class Function>
double median_of(int count, const Function& function) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(function());
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// A database of this run only, for the calibration.
class Scratch {
 public:
  Scratch() : path_(std::filesystem::temp_directory_path() / format("targets-{}.db", ::getpid())) {}
  ~Scratch() {
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path_.string() + end);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

ProblemReport tuned(Device& device, db::TunedStore& store, const Target& target,
                    const Problem& problem) {
  TuningRequest request;
  request.problems = {problem};
  request.budget_text = "32";
  request.budget = parse_budget(request.budget_text);
  request.compile_threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return tune(target, device, &store, request).problems.front();
}

void print_shares(Device& device) {
  const Scratch scratch;
  db::TunedStore store(scratch.path());
  const double copy = copy_rate(kElements * sizeof(float));
  std::cout
      << format("copy of {} within the device: {:.0f} GB/s\n\n",
                bytes_text(kElements * std::int64_t{sizeof(float)}), copy / kGiga)
      << "| target | problem | default GB/s | best GB/s | of the copy | best configuration |\n"
         "|---|---|---|---|---|---|\n";
  const NamedValues vector = {{"N", kElements}};
  const NamedValues matrix = {{"ROWS", 8192}, {"COLUMNS", 8192}};
  const NamedValues plate = {{"HEIGHT", 8192}, {"WIDTH", 8192}};
  const Problems all[] = {
      {"vector_add", vector, {}},
      {"matrix_add", matrix, {}},
      {"transpose", matrix, {}},
      {"stencil", plate, {{"steps", 1}}},
      {"reduction", vector, {}},
      {"convolution_2d", plate, {{"filter", 3}}},
      {"convolution_2d", plate, {{"filter", 5}}},
  };
  for (const Problems& each : all) {
    const auto start = std::chrono::steady_clock::now();
    const Target target = find_target(each.target);
    const Problem problem = problem_of(target, each.sizes, each.settings);
    const ProblemReport report = tuned(device, store, target, problem);
    const double bytes = work_of(target, problem, device.info()).bytes;
    const auto rate = [&](const std::optional<Tuned>& one) {
      return one ? bytes / one->measurement.median / kGiga : 0.0;
    };
    std::cout << format(
                     "| {} | {} | {:.0f} | {:.0f} | {:.1f} % | {} |\n", target.name, problem.text(),
                     rate(report.decision.default_configuration), rate(report.decision.best),
                     100 * rate(report.decision.best) / (copy / kGiga),
                     report.decision.best ? to_text(report.decision.best->configuration) : "none")
              << std::flush;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::cerr << format("{}: {:.1f} s\n", target.name, seconds.count());
  }
}

/// The fixed configurations of one problem, measured one after the other.
void print_times(Device& device, const Target& target, const Problem& problem,
                 const std::vector<NamedValues>& rows) {
  const DeviceInfo& info = device.info();
  Workload workload = workload_of(target, problem, info);
  // Quick to fill; the times do not depend on it.
  for (BufferSpec& buffer : workload.buffers) buffer.fill = Fill::iota;
  const auto bench = device.open(workload);
  std::cout << format("\n{} {}\n\n| configuration | ms | GB/s |\n|---|---|---|\n", target.name,
                      problem.text());
  for (const NamedValues& fixed : rows) {
    const Target part = with_fixed(target, fixed);
    const Configuration configuration = valid_default(part, problem, info);
    const CompiledKernel kernel = device.compile(source_unit(part, problem, configuration, info));
    const auto candidate = bench->load(kernel, launch_plan(part, problem, configuration, info));
    const Verdict verdict = candidate->verify();
    const double seconds = median_of(7, [&] { return candidate->time(20, L2State::hot).seconds; });
    std::cout << format("| {} | {:.4f} | {:.0f} |{}\n", to_text(fixed), seconds * 1e3,
                        work_of(part, problem, info).bytes / seconds / kGiga,
                        verdict.outcome == Outcome::ok ? "" : " " + verdict.message)
              << std::flush;
  }
}

/// The additions of int32 on a Tesla K80, one element a thread: blocks of 32 to 1024 threads over
/// 2^24 elements; rows, columns and lines of 16384 x 16384.
void print_additions(Device& device) {
  const NamedValues one = {{"ITEMS", 1}, {"VECTOR", 1}, {"STREAM", 0}};
  const auto with = [](NamedValues some, const NamedValues& more) {
    some.insert(some.end(), more.begin(), more.end());
    return some;
  };
  std::vector<NamedValues> blocks, shapes;
  for (int block = 1024; block >= 32; block /= 2) blocks.push_back(with({{"BLOCK", block}}, one));
  for (const char* order : {"row", "column"}) {
    for (const auto& [x, y] : {std::pair(32, 32), {32, 16}, {16, 16}}) {
      const NamedValues shape = {
          {"GRID", "tiles"}, {"ORDER", order}, {"BLOCK_X", x}, {"BLOCK_Y", y}};
      shapes.push_back(std::string(order) == "row" ? with(shape, one) : shape);
    }
  }
  for (int block = 1024; block >= 32; block /= 2) {
    shapes.push_back(with({{"GRID", "flat"}, {"BLOCK_X", block}}, one));
  }
  const Target vector = find_target("vector_add"), matrix = find_target("matrix_add");
  print_times(device, vector, problem_of(vector, {{"N", 1 << 24}}, {{"dtype", "i32"}}), blocks);
  print_times(device, matrix, problem_of(matrix, {{"ROWS", 16384}, {"COLUMNS", 16384}}, {}),
              shapes);
}

/// The default configuration, with the filter in each kind of memory.
void print_filters(Device& device) {
  const Target target = find_target("convolution_2d");
  std::vector<NamedValues> rows;
  for (const char* where : {"global", "shared", "constant"}) {
    rows.push_back({{"WEIGHTS", where}, {"TILE_X", 2}, {"TILE_Y", 2}});
  }
  for (const int filter : {5, 15}) {
    const NamedValues sizes = {{"HEIGHT", 4096}, {"WIDTH", 4096}};
    print_times(device, target, problem_of(target, sizes, {{"filter", filter}}), rows);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto asked = [&](const char* word) {
    return words.empty() || std::ranges::find(words, word) != words.end();
  };
  const auto device =
      make_cuda_device(0, std::make_shared<BuildCache>(BuildCache::default_folder()));
  std::cout << device->info().name << ", " << device->info().environment << "\n\n";
  if (asked("copy")) print_shares(*device);
  if (asked("additions")) print_additions(*device);
  if (asked("filters")) print_filters(*device);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
