// SPDX-License-Identifier: Apache-2.0
// The checks of autotune doctor. No check throws, and none needs a GPU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/gpu/toolkit.hpp"

namespace autotune::cli {

/// `note`: something is missing that not everybody needs, or could be better.
enum class Health : std::uint8_t { ok, note, problem };

struct Finding {
  std::string what;  // `driver`
  Health health = Health::ok;
  std::string state;        // what was found
  std::string advice = {};  // what to do; empty if all is well
};
using Findings = std::vector<Finding>;

/// NVRTC, headers, driver, device nodes, permission to read performance counters, persistence.
/// `root` is `/`, or a folder that stands for it.
Findings gpu_findings(const Toolkit& toolkit, const std::filesystem::path& root);

/// The folder of compiled kernels: whether it can be written, its size, the free space.
Finding cache_finding(const std::filesystem::path& folder);

/// A tuned database: whether it can be read or created, its rows, its file system.
Finding database_finding(const std::string& what, const std::filesystem::path& file);

}  // namespace autotune::cli
