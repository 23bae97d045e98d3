// SPDX-License-Identifier: Apache-2.0
// Private to this folder: TMA descriptors.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "tuner/core/launch.hpp"

namespace autotune {

/// The descriptor of a buffer at `address`. Throws KernelFailure (launch_error) if the driver
/// refuses it; the message lists its rules.
CUtensorMap encode(const TensorMap& map, const BufferSpec& buffer, std::byte* address);

/// The same descriptor for another address. Throws as encode().
void move_to(CUtensorMap& map, const BufferSpec& buffer, std::byte* address);

}  // namespace autotune
