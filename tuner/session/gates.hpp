// SPDX-License-Identifier: Apache-2.0
// What can be ruled out before a launch: limits of the device that a configuration breaks.
#pragma once

#include <optional>
#include <string>

#include "tuner/core/device.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/model/occupancy.hpp"

namespace autotune {

/// First gate, before compiling, after those of TargetProgram::plan(): clusters, and the manifest's
/// estimates of static shared memory and registers. A sentence that names the limit, or nullopt.
std::optional<std::string> breaks_declared_limit(const LaunchPlan& plan,
                                                 const TargetProgram::Estimates& estimates,
                                                 const DeviceInfo& device);

/// Second gate, before launching: what the binary really needs.
std::optional<std::string> breaks_compiled_limit(const CompiledKernel& kernel,
                                                 const LaunchPlan& plan, const DeviceInfo& device);

/// The launch whose resources stand for the configuration: the one with the most dynamic shared
/// memory, of such the one with the most threads in all.
const Launch& heaviest(const LaunchPlan& plan);

/// What the occupancy model is asked for one launch.
KernelShape shape_of(const Launch& launch, const KernelResources& resources);

}  // namespace autotune
