// SPDX-License-Identifier: Apache-2.0
// The text of tuner/host/shim, which precedes every kernel compiled for the host.
#pragma once

#include <span>
#include <string_view>

namespace autotune {

std::string_view shim_text();

/// The CUDA headers that kernels may include on the host, and the headers that these include.
struct ShimHeader {
  std::string_view name, text;
};
std::span<const ShimHeader> shim_headers();

}  // namespace autotune
