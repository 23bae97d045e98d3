// SPDX-License-Identifier: Apache-2.0
// Compiles CUDA sources to cubins with NVRTC, in this process.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/cache/build_cache.hpp"
#include "tuner/core/device.hpp"

namespace autotune {

/// `13.0.88`; part of every key, because each release generates different code.
const std::string& nvrtc_version();

/// The architectures that NVRTC supports, ascending: 75, 80, … 121.
std::span<const int> nvrtc_architectures();

/// The newest of the known architectures, ascending, whose code runs on a GPU of this compute
/// capability: one of its major version that is not newer. nullopt if there is none.
std::optional<int> architecture_for(int compute_capability, std::span<const int> known);

/// Throws Error if NVRTC compiles for no architecture that runs on this GPU.
void require_architecture(const DeviceInfo& gpu,
                          std::span<const int> known = nvrtc_architectures());

/// All NVRTC options of this unit: architecture (sm_NN, unless the unit's options name one),
/// language, include folders, then the unit's own options.
std::vector<std::string> nvrtc_options(const SourceUnit& unit, int compute_capability);

/// The unit as a task for NVRTC.
CompileTask nvrtc_task(const SourceUnit& unit, int compute_capability);

inline constexpr std::chrono::seconds kCompileLimit{60};

/// Runs NVRTC. The time limit has no effect during assembly. A source that is nested too deeply
/// ends the process. See CompilerRunner::run(). Threads share no lock.
Build compile_with_nvrtc(const CompileTask& task,
                         std::optional<std::chrono::duration<double>> limit = kCompileLimit);

/// Ends what NVRTC compiles in this process, except during assembly. From then on,
/// compile_with_nvrtc() throws NotCompiled.
void stop_nvrtc() noexcept;

/// The same as a CompilerRunner.
std::shared_ptr<CompilerRunner> nvrtc_in_this_process();

// Finds kernels that wait for all blocks of their grid. Only a cooperative launch makes that safe.

/// The kernels of a PTX module that read the grid's handle, or call a function that does.
std::set<std::string> kernels_with_grid_barrier(std::string_view ptx);

// A thread with a large stack, for deep recursion.

/// Calls `work` on a thread with 256 MiB of stack (or less, if the system allows no more) and waits
/// for it. Rethrows its exception.
void on_large_stack(const std::function<void()>& work);

}  // namespace autotune
