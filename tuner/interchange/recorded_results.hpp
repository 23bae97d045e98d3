// SPDX-License-Identifier: Apache-2.0
// A tuner's recorded results of one problem, independent of the file format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/outcome.hpp"
#include "tuner/core/parameter_space.hpp"

namespace autotune {

/// One configuration and its result.
struct RecordedResult {
  std::vector<Value> values;  // one per parameter
  Outcome outcome = Outcome::ok;
  std::optional<double> seconds = {};  // of ok; of pruned, a lower bound
  double compile_seconds = 0;          // 0: unknown
  int samples = 0;                     // times behind `seconds`; 0: unknown
  std::string timestamp = {};          // as in the file: `2026-11-22 14:34:21.102791+00:00`
  std::int64_t shared_bytes = -1;      // of a block, also where they were refused; -1: unknown
  double total_seconds = 0;            // all that evaluating it cost, compiling too; 0: unknown
};

struct RecordedResults {
  enum class Format : std::uint8_t { kernel_tuner_cache, t4 } format = Format::kernel_tuner_cache;
  std::string device, kernel;        // names; empty if the file has none
  std::vector<double> problem_size;  // empty if the file has none
  std::vector<Parameter> parameters;
  std::vector<RecordedResult> results;
  bool is_cut_off = false;  // the file is truncated within a result
};

/// As in the keys of Kernel Tuner's caches: `32,1.5,near`.
std::string key_of(std::span<const Value> values);

/// Reads Kernel Tuner's cache (complete, or left by an interrupted run) or T4 results, with or
/// without gzip. Throws Error with the file and what is wrong.
RecordedResults read_recorded_results(const std::filesystem::path& file);

}  // namespace autotune
