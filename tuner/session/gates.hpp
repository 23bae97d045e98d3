// SPDX-License-Identifier: Apache-2.0
// Limits of the device, tested before a launch.
#pragma once

#include <optional>
#include <string>

#include "tuner/core/device.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/model/occupancy.hpp"

namespace autotune {

/// The gate before compiling, after that of launch_plan(). It tests clusters and the manifest's
/// estimates of static shared memory and registers. Returns a sentence that names the limit, or
/// nullopt.
std::optional<std::string> breaks_declared_limit(const LaunchPlan& plan,
                                                 const TargetProgram::Estimates& estimates,
                                                 const DeviceInfo& device);

/// The gate after compiling: the resources of the binary. Returns as above.
std::optional<std::string> breaks_compiled_limit(const CompiledKernel& kernel,
                                                 const LaunchPlan& plan, const DeviceInfo& device);

/// The launch that represents the configuration: the one with the most dynamic shared memory, then
/// with the most threads.
const Launch& heaviest(const LaunchPlan& plan);

/// Input of the occupancy model for one launch.
KernelShape shape_of(const Launch& launch, const KernelResources& resources);

}  // namespace autotune
