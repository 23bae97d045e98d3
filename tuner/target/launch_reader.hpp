// SPDX-License-Identifier: Apache-2.0
// The part of a manifest that says what is launched, on what, and what must come out.
#pragma once

#include <filesystem>
#include <vector>

#include "tuner/core/target.hpp"
#include "tuner/target/names.hpp"
#include "tuner/target/node.hpp"

namespace autotune {

struct LaunchPart {
  std::vector<ArgumentSpec> arguments, workspace;
  std::vector<TensorMapSpec> tensor_maps;
  std::vector<KernelSpec> kernels;
  ReferenceSpec reference;
};

/// Reads "arguments", "workspace", "tensor_maps", "kernels", "reference". Throws Error.
LaunchPart read_launch_part(const Node& root, const std::filesystem::path& folder, Names& names,
                            const std::vector<Setting>& settings);

}  // namespace autotune
