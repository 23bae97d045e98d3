// SPDX-License-Identifier: Apache-2.0
// A search space with all results known: read from other tuners' files, or simulated.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/core/parameter_space.hpp"
#include "tuner/search/strategy.hpp"

namespace autotune {

struct RecordedSpace {
  std::string name;  // `gemm-rtx2080ti`
  ParameterSpace space;
  std::vector<Evaluation> answers;      // one per index of the space
  std::vector<double> compile_seconds;  // the same; 0 if the file has none

  /// The shortest time; infinity if every configuration fails.
  double best() const;
  std::size_t failures() const;
};

/// Reads Kernel Tuner's cache (complete, or left by an interrupted run) or T4 results, with or
/// without gzip. Throws Error with the file and what is wrong.
RecordedSpace read_recorded_space(const std::filesystem::path& file);

}  // namespace autotune
