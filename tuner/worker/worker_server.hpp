// SPDX-License-Identifier: Apache-2.0
// The worker's side: does what its parent asks of a device, until the parent is gone.
#pragma once

#include "tuner/core/device.hpp"

namespace autotune {

/// Returns when the other end of the socket is closed; takes the descriptor over.
void serve(int socket, Device& device);

}  // namespace autotune
