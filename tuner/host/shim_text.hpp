// SPDX-License-Identifier: Apache-2.0
// The text of tuner/host/shim, which precedes every kernel compiled for the host.
#pragma once

#include <span>
#include <string_view>

namespace autotune {

std::string_view shim_text();

/// The headers that kernels get on the host: CUDA's, our own where the text of ours is for GPUs
/// only, and what these include. They precede all others of their name.
struct ShimHeader {
  std::string_view name, text;
};
std::span<const ShimHeader> shim_headers();

}  // namespace autotune
