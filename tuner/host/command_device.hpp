// SPDX-License-Identifier: Apache-2.0
// Targets that are programs: commands build them, and run them on files of their buffers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/cache/compiler_runner.hpp"
#include "tuner/core/device.hpp"

namespace autotune {

/// The same device, which runs commands, too: their sources are SourceUnits with `build`, and their
/// workloads `run_commands`. `environment` has variables for what runs, such as
/// `CUDA_VISIBLE_DEVICES=1`. Without a runner, this process starts what builds, and limits it to
/// 60 s. Each run is a process of its own, of which a group is killed at the command's limit.
std::unique_ptr<Device> with_commands(std::unique_ptr<Device> device,
                                      std::shared_ptr<BuildCache> cache,
                                      std::shared_ptr<CompilerRunner> runner,
                                      std::vector<std::string> environment = {});

/// The mean of the times in seconds that a program printed, each on a line as `pattern` has it:
/// `Elapsed: {ms} ms`. Throws KernelFailure if there is none.
double printed_seconds(std::string_view output, std::string_view pattern);

}  // namespace autotune
