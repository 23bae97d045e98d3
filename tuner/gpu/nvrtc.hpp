// SPDX-License-Identifier: Apache-2.0
// CUDA source to cubin, in this process, through NVRTC.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "tuner/cache/build_cache.hpp"
#include "tuner/core/launch.hpp"

namespace autotune {

/// `13.0.88`: in every key, since each release makes other code.
const std::string& nvrtc_version();

/// What NVRTC compiles for, ascending: 75, 80, … 121.
std::span<const int> nvrtc_architectures();

/// Everything NVRTC is told for this unit: architecture (plain sm_NN unless the unit's options
/// name one), language, include folders, the unit's own options last.
std::vector<std::string> nvrtc_options(const SourceUnit& unit, int compute_capability);

inline constexpr std::chrono::seconds kCompileLimit{60};

/// A compile, at most `limit` long. Thread-safe; threads share no lock. A refused source is a Build
/// without binary whose log says why; one that took too long also has `keep` false.
Build compile_with_nvrtc(const SourceUnit& unit, const std::vector<std::string>& options,
                         std::chrono::duration<double> limit = kCompileLimit);

}  // namespace autotune
