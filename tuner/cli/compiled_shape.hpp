// SPDX-License-Identifier: Apache-2.0
// What a configuration of a target takes on a GPU, from the compiled binary.
#pragma once

#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/occupancy_report.hpp"

namespace autotune::cli {

/// One question for each kernel that the configuration launches: `--target`, `--size`, `--set` and
/// NAME=VALUE of `arguments`. Throws UsageError when no valid configuration has these values, Error
/// when it does not compile.
std::vector<OccupancyQuestion> compiled_questions(const Arguments& arguments, const GpuSpec& gpu);

}  // namespace autotune::cli
