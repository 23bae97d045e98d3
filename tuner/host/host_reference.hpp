// SPDX-License-Identifier: Apache-2.0
// The right answer of a workload, by its reference kernel or from a file.
#pragma once

#include <optional>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/host/host_buffers.hpp"
#include "tuner/host/launcher.hpp"

namespace autotune {

/// What one output must hold.
struct ReferenceOutput {
  HostBuffer values;
  std::optional<HostBuffer> magnitudes;
  bool exact = false;

  Expected expected() const {
    return {values.spec().type, values.bytes(),
            magnitudes ? magnitudes->bytes() : std::span<const std::byte>(), exact};
  }
};

/// What a candidate's outputs are compared with on one input set, one an output or inout buffer
/// in their order.
struct ReferenceResults {
  InputSet set = InputSet::uniform;
  std::vector<ReferenceOutput> outputs;
};

/// `reference` is the reference source, compiled; null where there is a file. Throws Error when the
/// kernel fails or the file is not as long as the outputs.
std::vector<ReferenceResults> reference_results(const Workload& workload,
                                                const std::string* reference,
                                                const DeviceInfo& info, Launcher& launcher);

}  // namespace autotune
