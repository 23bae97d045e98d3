// SPDX-License-Identifier: Apache-2.0
// CUDA source to cubin, in this process, through NVRTC.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/cache/compiler_runner.hpp"
#include "tuner/core/launch.hpp"

namespace autotune {

/// `13.0.88`: in every key, since each release makes other code.
const std::string& nvrtc_version();

/// What NVRTC compiles for, ascending: 75, 80, … 121.
std::span<const int> nvrtc_architectures();

/// Everything NVRTC is told for this unit: architecture (plain sm_NN unless the unit's options
/// name one), language, include folders, the unit's own options last.
std::vector<std::string> nvrtc_options(const SourceUnit& unit, int compute_capability);

/// The unit as NVRTC gets it.
CompileTask nvrtc_task(const SourceUnit& unit, int compute_capability);

inline constexpr std::chrono::seconds kCompileLimit{60};

/// Runs NVRTC. It can be stopped at its limit only while it does not assemble, and a source that is
/// nested too deep ends the process. See CompilerRunner::run(); threads share no lock.
Build compile_with_nvrtc(const CompileTask& task,
                         std::optional<std::chrono::duration<double>> limit = kCompileLimit);

/// The same as a runner.
std::shared_ptr<CompilerRunner> nvrtc_in_this_process();

}  // namespace autotune
