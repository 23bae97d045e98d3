// SPDX-License-Identifier: Apache-2.0
// What autotune doctor looks at. No check throws, and none needs a GPU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/gpu/toolkit.hpp"

namespace autotune::cli {

/// `note`: something that is not needed by everybody is not there, or could be better.
enum class Health : std::uint8_t { ok, note, problem };

struct Finding {
  std::string what;  // `driver`
  Health health = Health::ok;
  std::string state;        // what is there
  std::string advice = {};  // what to do; empty if nothing is to be done
};
using Findings = std::vector<Finding>;

/// NVRTC, headers, driver, device nodes, permission to read performance counters, persistence.
/// `root` is `/`, or a folder that stands for it.
Findings gpu_findings(const Toolkit& toolkit, const std::filesystem::path& root);

/// The folder of compiled kernels: whether it can be written, its size, free space.
Finding cache_finding(const std::filesystem::path& folder);

/// A tuned database: whether it can be read, its rows, the file system.
Finding database_finding(const std::string& what, const std::filesystem::path& file);

}  // namespace autotune::cli
