// SPDX-License-Identifier: Apache-2.0
// The right answer of a workload, by its reference kernel or from a file.
#pragma once

#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/host/launcher.hpp"
#include "tuner/measure/verification.hpp"

namespace autotune {

/// What a candidate's outputs are compared with on one input set, one an output or inout buffer
/// in their order.
struct ReferenceResults {
  InputSet set = InputSet::uniform;
  std::vector<Expected> outputs;
};

/// `source` is the reference source, compiled. Throws Error when the kernel fails or the file is
/// not as long as the outputs.
std::vector<ReferenceResults> reference_results(const Workload& workload,
                                                const CompiledKernel& source,
                                                const DeviceInfo& info, Launcher& launcher);

bool is_compared(Role role);

}  // namespace autotune
