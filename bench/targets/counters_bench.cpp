// SPDX-License-Identifier: Apache-2.0
// Published tables of instructions, transactions, efficiencies and achieved occupancy, counted by
// this GPU's hardware. Prints the tables of docs/targets.md.
//   counters_bench PLUGIN TABLE   the plugin counters.so; vector_add, matrix_add or gemm.
// AUTOTUNE_KERNEL_PATH says where targets are. One table per process, because a process that has
// counted times nothing.
#include <algorithm>
#include <iostream>
#include <map>

#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/plugin/target_hooks.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

namespace {

using namespace autotune;

constexpr double kGiga = 1e9;

/// One configuration: its time, taken before anything is counted, and its counters.
struct Counted {
  double seconds = 0;
  double theoretical_occupancy = 0;
  std::map<std::string, double> counters;

  double operator[](const char* name) const {
    const auto found = counters.find(name);
    return found == counters.end() ? 0 : found->second;
  }
};

double median_seconds(Candidate& candidate) {
  std::vector<double> values;
  for (int i = 0; i < 7; ++i) values.push_back(candidate.time(20, L2State::hot).seconds);
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double theoretical_occupancy(Device& device, const CompiledKernel& kernel, const LaunchPlan& plan) {
  const Launch& launch = plan.launches.front();
  const auto blocks = device.active_blocks(kernel, launch);
  const auto threads = static_cast<double>(launch.block.x * launch.block.y * launch.block.z);
  return blocks.value_or(0) * threads / device.info().threads_per_multiprocessor;
}

/// In the order of the rows. Times come first, because nothing is timed after counting.
std::vector<Counted> counted(Device& device, const std::filesystem::path& plugin,
                             const Target& target, const Problem& problem,
                             const std::vector<NamedValues>& rows) {
  const DeviceInfo& info = device.info();
  Workload workload = workload_of(target, problem, info);
  for (BufferSpec& buffer : workload.buffers) buffer.fill = Fill::iota;
  const auto bench = device.open(workload);
  std::vector<Counted> all;
  std::vector<std::unique_ptr<Candidate>> candidates;
  for (const NamedValues& fixed : rows) {
    const Target part = with_fixed(target, fixed);
    const Configuration configuration = valid_default(part, problem, info);
    const CompiledKernel kernel = device.compile(source_unit(part, problem, configuration, info));
    if (kernel.outcome != Outcome::ok) throw Error(to_text(fixed) + ": " + kernel.log);
    const LaunchPlan plan = launch_plan(part, problem, configuration, info);
    candidates.push_back(bench->load(kernel, plan));
    all.push_back(
        {median_seconds(*candidates.back()), theoretical_occupancy(device, kernel, plan), {}});
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const Counter& one : counters_of(*candidates[i], plugin)) {
      all[i].counters[one.name] = one.value;
    }
  }
  return all;
}

void print_table(const Target& target, const Problem& problem, const std::vector<NamedValues>& rows,
                 const std::vector<Counted>& figures) {
  std::cout
      << format("\n{} {}\n\n", target.name, problem.text())
      << "| configuration | ms | theoretical occupancy | achieved | GIPS | IPC | FLOPs a request | "
         "load "
         "requests | load sectors | load efficiency | store sectors | store efficiency | bank "
         "conflicts | L2 GB/s | DRAM GB/s |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Counted& one = figures[i];
    const double flops = one["flops_f32"] + one["flops_f64"] + one["flops_f16"];
    const double accesses = one["load_requests"] + one["store_requests"];
    const double dram = one["dram_read_bytes"] + one["dram_write_bytes"];
    std::cout << format(
        "| {} | {:.4f} | {:.1f} % | {:.1f} % | {:.1f} | {:.2f} | {:.1f} | {:.0f} | {:.0f} | {:.2f} "
        "% | {:.0f} | {:.2f} % | {:.0f} | {:.0f} | {:.0f} |\n",
        to_text(rows[i]), one.seconds * 1e3, 100 * one.theoretical_occupancy,
        100 * one["achieved_occupancy"], one["instructions"] / one.seconds / kGiga,
        one["instructions_per_cycle"], accesses > 0 ? flops / accesses : 0, one["load_requests"],
        one["load_sectors"], 100 * one["load_efficiency"], one["store_sectors"],
        100 * one["store_efficiency"], one["shared_conflicts"],
        one["l2_bytes"] / one.seconds / kGiga, dram / one.seconds / kGiga);
  }
  std::cout << std::flush;
}

NamedValues with(NamedValues some, const NamedValues& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

const NamedValues kOneElement = {{"ITEMS", 1}, {"VECTOR", 1}, {"STREAM", 0}};

std::vector<NamedValues> vector_rows() {
  std::vector<NamedValues> rows;
  for (int block = 1024; block >= 32; block /= 2) {
    rows.push_back(with({{"BLOCK", block}}, kOneElement));
  }
  return rows;
}

std::vector<NamedValues> matrix_rows() {
  std::vector<NamedValues> rows;
  for (const char* order : {"row", "column"}) {
    for (const auto& [x, y] : {std::pair(32, 32), {32, 16}, {16, 16}}) {
      const NamedValues shape = {
          {"GRID", "tiles"}, {"ORDER", order}, {"BLOCK_X", x}, {"BLOCK_Y", y}};
      rows.push_back(std::string(order) == "row" ? with(shape, kOneElement) : shape);
    }
  }
  for (int block = 1024; block >= 32; block /= 2) {
    rows.push_back(with({{"GRID", "flat"}, {"BLOCK_X", block}}, kOneElement));
  }
  return rows;
}

/// The steps of the published tutorials: global memory, shared tiles, prefetch, several sums per
/// thread.
std::vector<NamedValues> gemm_rows() {
  std::vector<NamedValues> rows;
  for (const int block : {8, 16}) {
    rows.push_back({{"KERNEL", "naive"}, {"BLOCK_SIZE", block}, {"TILE_SIZE", 1}});
    for (const auto& [tile, prefetch] :
         {std::pair(1, "none"), {1, "register"}, {1, "shared"}, {2, "register"}}) {
      rows.push_back({{"KERNEL", "tiled"},
                      {"BLOCK_SIZE", block},
                      {"TILE_SIZE", tile},
                      {"PREFETCH", prefetch},
                      {"A_LAYOUT", "plain"}});
    }
  }
  return rows;
}

struct Table {
  NamedValues sizes, settings;
  std::vector<NamedValues> rows;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw Error("usage: counters_bench counters.so vector_add|matrix_add|gemm");
  const std::map<std::string, Table> tables = {
      {"vector_add", {{{"N", 1 << 24}}, {{"dtype", "i32"}}, vector_rows()}},
      {"matrix_add", {{{"ROWS", 16384}, {"COLUMNS", 16384}}, {}, matrix_rows()}},
      {"gemm", {{{"M", 640}, {"N", 640}, {"K", 640}}, {}, gemm_rows()}}};
  const auto table = tables.find(argv[2]);
  if (table == tables.end()) throw Error(format("there is no table {}", argv[2]));
  const auto& [sizes, settings, rows] = table->second;
  const auto device =
      make_cuda_device(0, std::make_shared<BuildCache>(BuildCache::default_folder()), {}, nullptr,
                       count_with_plugin);
  const Target target = find_target(table->first);
  const Problem problem = problem_of(target, sizes, settings);
  const auto figures = counted(*device, argv[1], target, problem, rows);
  std::cout << format("\n{} on {}, {}\n", target.name, device->info().name,
                      device->info().environment);
  print_table(target, problem, rows, figures);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
