// SPDX-License-Identifier: Apache-2.0
// The worker's side: serves its parent's requests on a device.
#pragma once

#include "tuner/core/device.hpp"
#include "tuner/worker/channel.hpp"

namespace autotune {

/// Returns when the other end is closed.
void serve(Channel& channel, Device& device);

}  // namespace autotune
