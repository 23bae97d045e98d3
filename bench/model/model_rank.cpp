// SPDX-License-Identifier: Apache-2.0
// How well the cost model ranks a target's configurations.
//   model_rank calibrate                                     prints a GPU's calibration
//   model_rank clusters                                      compares active clusters of all sizes
//   model_rank measure OUT.jsonl TARGET SIZES COUNT [SEED]   times random valid ones on a GPU
//   model_rank report IN.jsonl [GPU] [verbose]              predicts them again, prints a table
// Those that do not compile or launch are left out.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/json/json.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

namespace {

using namespace autotune;

constexpr int kBatches = 7;
constexpr double kBatchSeconds = 300e-6;

std::vector<std::size_t> drawn(std::size_t size, std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> indices(size);
  for (std::size_t i = 0; i < size; ++i) indices[i] = i;
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < std::min(count, size); ++i) {
    std::swap(indices[i], indices[i + random() % (size - i)]);
  }
  indices.resize(std::min(count, size));
  return indices;
}

std::vector<CompiledKernel> compile_all(Device& device, const std::vector<SourceUnit>& units) {
  std::vector<CompiledKernel> compiled(units.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (std::size_t at = next++; at < units.size(); at = next++) {
        compiled[at] = device.compile(units[at]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return compiled;
}

double median_seconds(Timer& timer) {
  const double first = timer.time(1, L2State::hot).seconds;
  const int launches = std::clamp(static_cast<int>(kBatchSeconds / first), 1, 200);
  std::vector<double> seconds;
  const int batches = first > 5e-3 ? 2 : kBatches;
  for (int i = 0; i < batches; ++i) seconds.push_back(timer.time(launches, L2State::hot).seconds);
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

Json resources_json(const CompiledKernel& kernel) {
  Json all = Json::array();
  for (const KernelResources& each : kernel.resources) {
    all.push_back({{"entry", each.entry},
                   {"registers", each.registers},
                   {"shared_bytes", each.shared_bytes},
                   {"local_bytes", each.local_bytes}});
  }
  return all;
}

/// What Device::active_blocks() answers.
int our_blocks(const GpuSpec& gpu, const CompiledKernel& kernel, const Launch& launch) {
  for (const KernelResources& each : kernel.resources) {
    if (each.entry != launch.entry) continue;
    KernelShape shape;
    shape.threads = static_cast<int>(launch.block.count());
    shape.registers = each.registers;
    shape.static_shared_bytes = each.shared_bytes;
    shape.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    shape.cluster = static_cast<int>(launch.cluster.count());
    const Occupancy ours = occupancy(gpu, shape);
    return shape.cluster == 1 ? ours.active_blocks : ours.active_clusters;
  }
  return -1;
}

void measure_problem(std::ostream& out, Device& device, const GpuSpec& gpu, const Target& target,
                     const Problem& problem, std::size_t count, std::uint64_t seed) {
  const ParameterSpace space = space_of(target, problem, device.info());
  const std::vector<std::size_t> indices = drawn(space.size(), count, seed);
  std::vector<SourceUnit> units;
  for (const std::size_t index : indices) {
    units.push_back(source_unit(target, problem, space.at(index), device.info()));
  }
  const std::vector<CompiledKernel> compiled = compile_all(device, units);
  const auto bench = device.open(workload_of(target, problem, device.info()));
  int failed = 0, occupancies = 0, with_clusters = 0, different = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Configuration configuration = space.at(indices[i]);
    try {
      if (compiled[i].outcome != Outcome::ok) throw KernelFailure(compiled[i].outcome, "");
      const LaunchPlan plan = launch_plan(target, problem, configuration, device.info());
      const auto candidate = bench->load(compiled[i], plan);
      for (const Launch& launch : plan.launches) {
        const auto driver = device.active_blocks(compiled[i], launch);
        if (!driver) continue;
        ++occupancies;
        if (launch.cluster.count() > 1) ++with_clusters;
        if (*driver != our_blocks(gpu, compiled[i], launch)) ++different;
      }
      const double seconds = median_seconds(*candidate);
      out << Json{{"target", target.name},
                  {"problem", problem.text()},
                  {"configuration", to_text(configuration)},
                  {"seconds", seconds},
                  {"resources", resources_json(compiled[i])}}
                 .dump()
          << '\n';
    } catch (const KernelFailure& failure) {
      ++failed;
      if (failure.outcome() == Outcome::crash) throw;
    }
  }
  std::cerr << format(
      "{}: {} of {} measured, {} failed; occupancy of {} launches, {} with clusters: {} unlike the "
      "driver's\n",
      problem.text(), indices.size() - static_cast<std::size_t>(failed), space.size(), failed,
      occupancies, with_clusters, different);
}

std::unique_ptr<Device> gpu() {
  return make_cuda_device(0, std::make_shared<BuildCache>(BuildCache::default_folder()));
}

int print_calibration() {
  const auto device = gpu();
  const Calibration calibration = calibrate(*device);
  const DeviceInfo& info = device->info();
  std::cout << format("{}: {} multiprocessors, {} Hz, L2 {} bytes, memory {} bytes, {} bytes/s\n",
                      info.name, info.multiprocessors, info.clock_hz, info.l2_bytes,
                      info.memory_bytes, info.memory_bytes_per_second);
  for (const CalibrationField& field : kCalibrationFields) {
    std::cout << format("{:<22} {:.4g}\n", field.name, calibration.*field.value);
  }
  std::cout << format("{:<22}", "groups");
  for (const int size : calibration.cluster_groups) std::cout << ' ' << size;
  std::cout << '\n';
  return 0;
}

int print_clusters() {
  const auto device = gpu();
  const GpuSpec spec = calibrated(gpu_spec(device->info()), calibrate(*device));
  const CompiledKernel kernel =
      device->compile({.name = "nothing.cu",
                       .prelude = "",
                       .text = "extern \"C\" __global__ void nothing() {}\n",
                       .include_folders = {},
                       .options = {},
                       .entries = {"nothing"}});
  std::cout << "cluster  active clusters at 1 to 32 blocks a multiprocessor: the driver's (ours)\n";
  for (int cluster = 1; cluster <= spec.sm.max_cluster; ++cluster) {
    std::cout << format("{:>7}", cluster);
    for (int blocks = 1; blocks <= spec.sm.blocks; ++blocks) {
      Launch launch;
      launch.entry = "nothing";
      launch.grid.x = 128 * cluster;
      launch.cluster.x = cluster;
      launch.block.x = 32;
      launch.dynamic_shared_bytes =
          (spec.sm.shared_bytes / blocks - spec.sm.reserved_shared_bytes) / 128 * 128;
      std::cout << format("  {} ({})", device->active_blocks(kernel, launch).value_or(-1),
                          our_blocks(spec, kernel, launch));
    }
    std::cout << '\n';
  }
  return 0;
}

int measure(const std::vector<std::string>& words) {
  const auto device = gpu();
  const GpuSpec spec = calibrated(gpu_spec(device->info()), calibrate(*device));
  const Target target = find_target(words.at(1));
  std::ofstream out(words.at(0));
  const std::uint64_t seed = words.size() > 4 ? std::stoull(words[4]) : 1;
  for (const NamedValues& sizes :
       parse_sizes(words.at(2), target.sizes, "--sizes", needed_sizes(target))) {
    measure_problem(out, *device, spec, target, problem_of(target, sizes, {}),
                    std::stoul(words.at(3)), seed);
    out.flush();
  }
  return 0;
}

struct Measured {
  Configuration configuration;
  double seconds = 0;
  std::vector<KernelResources> resources;
};

struct Loaded {
  std::string target;
  std::vector<std::pair<std::string, std::vector<Measured>>> problems;  // in the file's order
};

Loaded load(const std::string& file) {
  Loaded loaded;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const Json row = parse_json(line, file);
    loaded.target = row["target"];
    const std::string problem = row["problem"];
    if (loaded.problems.empty() || loaded.problems.back().first != problem) {
      loaded.problems.push_back({problem, {}});
    }
    Measured measured{
        parse_named_values(row["configuration"].get<std::string>()), row["seconds"], {}};
    for (const Json& each : row["resources"]) {
      measured.resources.push_back({.entry = each["entry"],
                                    .registers = each["registers"],
                                    .shared_bytes = each["shared_bytes"],
                                    .local_bytes = each["local_bytes"]});
    }
    loaded.problems.back().second.push_back(std::move(measured));
  }
  return loaded;
}

int report(const std::vector<std::string>& words) {
  const Loaded loaded = load(words.at(0));
  const DeviceInfo device = device_info(find_gpu(words.size() > 1 ? words[1] : "h200"));
  const Target target = find_target(loaded.target);
  const bool verbose = words.size() > 2 && words[2] == "verbose";
  std::cout << "problem                      n   rho before  after   top 20 before  after\n";
  for (const auto& [text, rows] : loaded.problems) {
    Problem problem;
    problem.values = parse_named_values(text);
    const ParameterSpace space = space_of(target, problem, device);
    const CostModel model(target, problem, space, device);
    std::vector<double> before, after, seconds;
    for (const Measured& row : rows) {
      const auto index = space.find(row.configuration);
      if (!index) continue;
      const CostEstimate estimate = model.estimate(*index, row.resources);
      before.push_back(model.estimate(*index).seconds);
      after.push_back(estimate.seconds);
      seconds.push_back(row.seconds);
      if (verbose) {
        std::cout << format("{:.3f} us measured {:.3f} before {:.3f} after, {} {}\n",
                            row.seconds * 1e6, before.back() * 1e6, after.back() * 1e6,
                            name_of(estimate.binding), to_text(row.configuration));
      }
    }
    if (seconds.empty()) continue;
    std::cout << format("{:<24} {:>5} {:>12.3f} {:>6.3f} {:>15.3f} {:>6.3f}\n", text.substr(0, 24),
                        seconds.size(), spearman(before, seconds), spearman(after, seconds),
                        top_ratio(before, seconds, 20), top_ratio(after, seconds, 20));
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  const std::vector<std::string> words(arguments + std::min(count, 2), arguments + count);
  const std::string verb = count > 1 ? arguments[1] : "";
  if (verb == "calibrate") return print_calibration();
  if (verb == "clusters") return print_clusters();
  if (verb == "measure" && words.size() >= 4) return measure(words);
  if (verb == "report" && !words.empty()) return report(words);
  std::cerr << "usage: model_rank calibrate\n"
               "       model_rank clusters\n"
               "       model_rank measure OUT.jsonl TARGET SIZES COUNT [SEED]\n"
               "       model_rank report IN.jsonl [GPU] [verbose]\n";
  return 2;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
