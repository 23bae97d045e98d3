// SPDX-License-Identifier: Apache-2.0
// Finds `__cluster_dims__(…)` in a CUDA source. A C++ compiler has no attribute for it that a
// program could read.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace autotune {

/// The arguments of `__cluster_dims__` by the kernel's name, without namespaces. Empty if the
/// kernel of one cannot be told, as in a macro, or if a kernel has several.
std::map<std::string, std::string> cluster_dims(std::string_view text);

}  // namespace autotune
