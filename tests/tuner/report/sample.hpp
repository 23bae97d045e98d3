// SPDX-License-Identifier: Apache-2.0
// Problems of a report, made by hand.
#pragma once

#include "tuner/report/report.hpp"
#include "tuner/text/format.hpp"

namespace autotune::report {

/// Of a search in which each trial took a second.
inline db::TrialRow trial(const std::string& configuration, double ns, int second = 0) {
  db::TrialRow row;
  row.session = "s";
  row.configuration = configuration;
  row.median_ns = ns;
  row.low_ns = ns * 0.99;
  row.high_ns = ns * 1.01;
  row.compile_seconds = 0.5;
  row.created_at = format("2026-03-01T{:02}:{:02}:{:02}.000000Z", second / 3600 % 24,
                          second / 60 % 60, second % 60);
  return row;
}

inline db::TrialRow failed(const std::string& configuration, const std::string& message) {
  db::TrialRow row = trial(configuration, 0);
  row.median_ns = row.low_ns = row.high_ns = std::nullopt;
  row.outcome = "compile_error";
  row.message = message;
  return row;
}

/// 2 GFLOP in 1 ms: 2 TFLOP/s of 4.
inline ReportedProblem problem(std::int64_t side, std::vector<db::TrialRow> trials) {
  ReportedProblem one;
  db::BestRow& best = one.entry.best;
  best.key = {"d", "k", format("M={0} N={0}", side), "l2=hot launch=graph"};
  best.configuration = trials.empty() ? "BM=1" : trials.front().configuration;
  one.best_text = best.configuration;
  best.median_ns = 1e6;
  best.low_ns = 0.98e6;
  best.high_ns = 1.02e6;
  best.verified = true;
  best.created_at = "2026-03-01T12:00:00.000000Z";
  best.provenance = "measured";
  best.decided = true;
  one.entry.device.name = "NVIDIA H200";
  one.entry.device.kind = "cuda";
  one.entry.kernel = {"k", "gemm", "f", "M N"};
  one.name = best.key.problem;
  one.side = side;
  one.work.flops = 2e9;
  one.roofs = Roofs{4e12, 4e12, 8e12};
  one.seconds_elapsed = elapsed_of(trials);
  one.trials = std::move(trials);
  return one;
}

/// Every counter that is shown.
inline CounterValues counted_sample() {
  return {{"achieved_occupancy", 0.6},
          {"instructions", 4e6},
          {"instructions_per_cycle", 2},
          {"issue_active", 0.5},
          {"flops_f32", 2e9},
          {"flops_f64", 0},
          {"flops_f16", 0},
          {"tensor_operations", 0},
          {"load_requests", 1e5},
          {"load_sectors", 4e5},
          {"load_efficiency", 1},
          {"store_requests", 1e4},
          {"store_sectors", 4e4},
          {"store_efficiency", 1},
          {"shared_wavefronts", 1e6},
          {"shared_conflicts", 0},
          {"l2_bytes", 5e7},
          {"l2_hit_rate", 0.9},
          {"dram_read_bytes", 1e7},
          {"dram_write_bytes", 1e6},
          {"stall_wait", 1.5}};
}

inline const std::string kHostile = "</script><img src=x onerror=alert(1)> \"quoted\" & more";

/// So many trials, the sixth a failure with a hostile message.
inline ReportedProblem searched(int side, int count = 32) {
  std::vector<db::TrialRow> trials;
  for (int i = 0; i < count; ++i) {
    const int bm = 32 << i % 3, bn = 8 + i / 3;
    const std::string text =
        format("BM={} BN={} KIND={}", bm, bn, i % 2 == 0 ? "<b>even</b>" : "odd");
    const double ns = side * (10.0 + bm / 16.0 + i / 3.0);
    db::TrialRow row = i == 5 ? failed(text, kHostile) : trial(text, ns, i);
    row.predicted_ns = 0.9 * ns;
    row.registers = 32 + i;
    trials.push_back(row);
  }
  ReportedProblem one = problem(side, std::move(trials));
  one.entry.best.median_ns = side * 12.0;
  one.entry.best.low_ns = one.entry.best.high_ns = std::nullopt;
  one.intensity = std::vector<double>(static_cast<std::size_t>(count), 10);
  one.importance = Importance{0.9, 31, {{"BN", 0.8}, {"BM", 0.4}}};
  one.finalists = {{"best",
                    one.entry.best.configuration,
                    counted_sample(),
                    "driver 580.82",
                    "2026-03-01T12:30:00.000000Z",
                    {}}};
  one.finalists[0].expected.seconds = side * 12e-9;
  return one;
}

}  // namespace autotune::report
