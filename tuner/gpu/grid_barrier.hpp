// SPDX-License-Identifier: Apache-2.0
// Finds kernels that wait for all blocks of their grid. Only a cooperative launch makes that safe.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace autotune {

/// The kernels of a PTX module that read the grid's handle, or call a function that does.
std::set<std::string> kernels_with_grid_barrier(std::string_view ptx);

}  // namespace autotune
