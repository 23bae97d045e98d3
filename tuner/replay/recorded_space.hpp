// SPDX-License-Identifier: Apache-2.0
// A search space with every answer already known: read from other tuners' files, or made up.
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
  std::vector<Evaluation> answers;      // one an index of the space
  std::vector<double> compile_seconds;  // the same; 0 where the file has none

  /// The shortest time; infinity when everything fails.
  double best() const;
  std::size_t failures() const;
};

/// Reads Kernel Tuner's cache (closed or as an interrupted run left it) or the T4 results format;
/// either may be gzip'd. Throws Error with the file and what is wrong.
RecordedSpace read_recorded_space(const std::filesystem::path& file);

}  // namespace autotune
