// SPDX-License-Identifier: Apache-2.0
// The content of a report: tuned problems with their trials, read from the database.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/rows.hpp"
#include "db/store.hpp"
#include "tuner/core/target.hpp"
#include "tuner/report/counted.hpp"
#include "tuner/search/importance.hpp"

namespace autotune::db {
class TunedStore;
}

namespace autotune::report {

/// Seconds since the first trial, one per trial. The time between two sessions does not count.
std::vector<double> elapsed_of(const std::vector<db::TrialRow>& trials);

/// Trials of one stage and outcome.
struct Spent {
  std::string stage, outcome;
  int trials = 0;
  double elapsed_seconds = 0;  // since the previous trial, summed
  double compile_seconds = 0;  // of all compilers together, which run at the same time
};

/// The longest time first.
std::vector<Spent> spent_on(const std::vector<db::TrialRow>& trials);

struct ReportedProblem;

struct Finalist {
  std::string role;  // `best`, `default`, `tie`
  std::string configuration;
  CounterValues counters;   // empty: not counted
  std::string environment;  // `driver 580.82, CUDA 13.0`, of the counters
  std::string counted_at;   // UTC
  Expected expected;
};

/// The best, the default and the ties of a problem that has its trials; none on a device without
/// counters. `target` may be nullptr. Throws StoreError.
std::vector<Finalist> finalists_of(const db::TunedStore& store, const ReportedProblem& problem,
                                   const Target* target);

/// Upper bounds of a GPU's rates.
struct Roofs {
  double flops_per_second = 0;         // f32 multiply-adds
  double memory_bytes_per_second = 0;  // 0: unknown
  double l2_bytes_per_second = 0;
  double tensor_flops_per_second = 0;  // for this work; 0: no trial uses tensor cores

  double highest_flops_per_second() const {
    return std::max(flops_per_second, tensor_flops_per_second);
  }
};

/// The best time of the same problem in another context of calls.
struct ContextTime {
  std::string context;  // `chain`
  double seconds = 0;
};

struct ReportedProblem {
  db::TunedEntry entry;
  std::string name;  // as people read it: `M=512 N=512 K=512`
  /// Configurations without what their families lack; ties with `; ` between them.
  std::string best_text, default_text, ties_text;
  std::optional<std::int64_t> side;     // 512, if all sizes are the same
  Work work;                            // of one call; 0: unknown
  std::optional<Roofs> roofs;           // of a GPU
  std::vector<db::TrialRow> trials;     // earliest first
  std::vector<double> seconds_elapsed;  // per trial: since the problem's first, without pauses
  /// Per trial: FLOPs per byte between L2 and the multiprocessors; 0: unknown.
  std::vector<double> intensity;
  std::vector<ContextTime> contexts;
  std::optional<double> cpu_seconds;  // best of the same problem on a CPU in the same database
  std::optional<Importance> importance;
  std::vector<Finalist> finalists;  // of a GPU
  std::string bits = {};            // the reduction class of the best; empty: not stored
};

struct Report {
  std::vector<ReportedProblem> problems;
  std::string database;      // its file
  std::string tool_version;  // of the tool that writes the report
  std::string written_at;    // UTC
  std::string notice = {};   // shown at the top: why this may not be the latest
};

/// The current target of this name; nullptr if there is none.
using TargetCalled = std::function<const Target*(const std::string& name)>;

/// The problems of these entries. Entries of one problem that differ in the context alone and have
/// no trials become `contexts` of the one that has.
std::vector<ReportedProblem> collect(const db::TunedStore& store,
                                     const std::vector<db::TunedEntry>& entries,
                                     const TargetCalled& target_called);

}  // namespace autotune::report
