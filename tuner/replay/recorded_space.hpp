// SPDX-License-Identifier: Apache-2.0
// A search space with all results known: read from other tuners' files, or simulated.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/core/parameter_space.hpp"
#include "tuner/interchange/recorded_results.hpp"
#include "tuner/search/strategy.hpp"

namespace autotune {

struct RecordedSpace {
  std::string name;  // `gemm-rtx2080ti`
  ParameterSpace space;
  std::vector<Evaluation> answers;      // one per index of the space
  std::vector<double> compile_seconds;  // the same; 0 if the file has none
  std::vector<double> total_seconds;    // the same: all that evaluating it cost, compiling too

  /// The shortest time; infinity if every configuration fails.
  double best() const;
  std::size_t failures() const;
};

/// The space of recorded results. Of several with the same values, the last counts. Throws Error
/// for a value that its parameter does not list.
RecordedSpace recorded_space(std::string name, RecordedResults results);

/// recorded_space() of read_recorded_results(), under the file's name.
RecordedSpace read_recorded_space(const std::filesystem::path& file);

}  // namespace autotune
