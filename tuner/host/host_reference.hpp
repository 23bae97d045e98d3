// SPDX-License-Identifier: Apache-2.0
// Reference results of a workload, from its reference kernels or a file.
#pragma once

#include <optional>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/host/host_buffers.hpp"
#include "tuner/host/launcher.hpp"

namespace autotune {

/// The expected content of one output.
struct ReferenceOutput {
  HostBuffer values;
  std::optional<HostBuffer> magnitudes;
  bool exact = false;

  Expected expected() const {
    return {values.spec().type, values.bytes(),
            magnitudes ? magnitudes->bytes() : std::span<const std::byte>(), exact};
  }
};

/// Reference results of one input set: one for each output or inout, in order.
struct ReferenceResults {
  InputSet set = InputSet::uniform;
  std::vector<ReferenceOutput> outputs;
};

/// Runs the workload's preparation on each input set, if it has one. `reference` is the compiled
/// reference source. Throws Error if a kernel fails or writes outside its buffers.
PreparedInputs prepared_inputs(const Workload& workload, const std::string* reference,
                               const DeviceInfo& info, Launcher& launcher);

/// `reference` may be null if the workload has a file. Throws Error if the kernel fails, or if the
/// file has the wrong length.
std::vector<ReferenceResults> reference_results(const Workload& workload,
                                                const std::string* reference,
                                                const PreparedInputs& prepared,
                                                const DeviceInfo& info, Launcher& launcher);

}  // namespace autotune
