// SPDX-License-Identifier: Apache-2.0
// Published search spaces in our expression language, to compare the time of building them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/core/parameter_space.hpp"

namespace autotune {

struct PublishedSpace {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Expression> constraints;
  std::uint64_t product = 0;  // as published, or computed from published values
  std::size_t valid = 0;      // as published; of expdist and the wide gemm, as built here
  /// Seconds of Kernel Tuner's constraint solver on a node with an A4000; 0: not published.
  double solver_seconds = 0;

  ParameterSpace build() const { return {parameters, constraints, {}}; }
};

/// From Kernel Tuner and its solver: tests/benchmarks.py and tests/test_util_benchmark.py of
/// python-constraint 2. expdist and CLBlast's gemm are from the repository of Willemsen, van
/// Nieuwpoort and van Werkhoven, "Efficient Construction of Large Search Spaces for Auto-Tuning",
/// 2025.
std::vector<PublishedSpace> published_spaces();

}  // namespace autotune
