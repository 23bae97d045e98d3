// SPDX-License-Identifier: Apache-2.0
// The resources of a compiled configuration on a GPU.
#pragma once

#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/occupancy_report.hpp"

namespace autotune::cli {

/// One question for each kernel of the configuration, from `--target`, `--size`, `--set` and
/// NAME=VALUE in `arguments`. Throws UsageError if no valid configuration has these values, Error
/// if it does not compile.
std::vector<OccupancyQuestion> compiled_questions(const Arguments& arguments, const GpuSpec& gpu);

}  // namespace autotune::cli
