// SPDX-License-Identifier: Apache-2.0
#include "plugins/counters/counter_table.hpp"

#include <cmath>
#include <optional>
#include <utility>

namespace counters {
namespace {

/// A counter is the sum of its terms. Terms may be missing, because chips lack some data types, but
/// not all.
struct Row {
  std::string name, unit;
  std::vector<std::pair<std::string, double>> terms;
};

Row one(const char* name, const char* unit, const char* metric, double factor = 1) {
  return {name, unit, {{metric, factor}}};
}

/// FLOPs outside tensor cores, from thread instructions; `type` is f, d or h.
Row flops(const char* name, char type, double lanes) {
  const auto metric = [&](const char* operation) {
    return std::string("smsp__sass_thread_inst_executed_op_") + type + operation + "_pred_on.sum";
  };
  return {
      name, "FLOP", {{metric("add"), lanes}, {metric("mul"), lanes}, {metric("fma"), 2 * lanes}}};
}

Row tensor_operations() {
  Row row{"tensor_operations", "operations", {}};
  for (const char* const source :
       {"fp8", "int8", "fp16", "bf16_dst_fp32", "tf32_dst_fp32", "fp64"}) {
    row.terms.emplace_back(std::string("sm__ops_path_tensor_src_") + source + ".sum", 1);
  }
  return row;
}

Row stall(const char* reason) {
  return {std::string("stall_") + reason,
          "warps per issue",
          {{std::string("smsp__average_warps_issue_stalled_") + reason + "_per_issue_active.ratio",
            1}}};
}

/// The names are Nsight Compute's.
const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> made{
        one("achieved_occupancy", "fraction", "sm__warps_active.avg.pct_of_peak_sustained_active",
            0.01),
        one("instructions", "warp instructions", "smsp__inst_executed.sum"),
        one("thread_instructions", "thread instructions", "smsp__thread_inst_executed.sum"),
        one("instructions_per_cycle", "per SM and cycle", "sm__inst_executed.avg.per_cycle_active"),
        one("issue_active", "fraction", "smsp__issue_active.avg.pct_of_peak_sustained_active",
            0.01),
        flops("flops_f32", 'f', 1),
        flops("flops_f64", 'd', 1),
        flops("flops_f16", 'h', 2),
        tensor_operations(),
        one("load_requests", "requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
        one("load_sectors", "sectors of 32 bytes",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
        one("load_efficiency", "fraction",
            "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 0.01),
        one("store_requests", "requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"),
        one("store_sectors", "sectors of 32 bytes",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
        one("store_efficiency", "fraction",
            "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", 0.01),
        one("copy_sectors", "sectors of 32 bytes",
            "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum"),
        one("shared_wavefronts", "wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"),
        one("shared_conflicts", "wavefronts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
        one("l1_hit_rate", "fraction", "l1tex__t_sector_hit_rate.pct", 0.01),
        one("l2_bytes", "bytes", "lts__t_bytes.sum"),
        one("l2_hit_rate", "fraction", "lts__t_sector_hit_rate.pct", 0.01),
        one("dram_read_bytes", "bytes", "dram__bytes_read.sum"),
        one("dram_write_bytes", "bytes", "dram__bytes_write.sum"),
        one("profiled_seconds", "s", "gpu__time_duration.sum", 1e-9),
    };
    for (const char* const reason :
         {"long_scoreboard", "short_scoreboard", "wait", "barrier", "membar", "math_pipe_throttle",
          "lg_throttle", "mio_throttle", "tex_throttle", "not_selected", "selected",
          "no_instruction", "imc_miss", "branch_resolving", "dispatch_stall", "drain", "gmma",
          "sleeping", "misc"}) {
      made.push_back(stall(reason));
    }
    return made;
  }();
  return all;
}

std::optional<double> value_of(const Row& row, const std::map<std::string, double>& metrics) {
  std::optional<double> sum;
  for (const auto& [metric, factor] : row.terms) {
    const auto found = metrics.find(metric);
    const bool is_known = found != metrics.end() && std::isfinite(found->second);
    if (is_known) sum = sum.value_or(0) + factor * found->second;
  }
  return sum;
}

}  // namespace

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Row& row : rows()) {
    for (const auto& [metric, factor] : row.terms) names.push_back(metric);
  }
  return names;
}

std::vector<Counter> counters_of(const std::map<std::string, double>& metrics) {
  std::vector<Counter> counters;
  for (const Row& row : rows()) {
    if (const auto value = value_of(row, metrics)) {
      counters.push_back({row.name, row.unit, *value});
    }
  }
  return counters;
}

}  // namespace counters
