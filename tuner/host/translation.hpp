// SPDX-License-Identifier: Apache-2.0
// Translates a CUDA source to C++.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "tuner/core/launch.hpp"

namespace autotune {

/// The symbol of a kernel's RunClusters in a module.
std::string run_symbol(std::string_view entry);
/// The symbol of the function that returns the bytes of its parameters, terminated by 0.
std::string parameters_symbol(std::string_view entry);
/// The symbol of the function that returns the Extent of its `__cluster_dims__`.
std::string cluster_symbol(std::string_view entry);

/// Shim, prelude, text, and the exported functions of each kernel. #line directives make messages
/// refer to the unit's own lines. Two things of the text (not of its includes) are translated:
/// `#pragma unroll` to g++'s form (which takes numbers and macros only), and `extern __shared__ T
/// name[];` to a pointer.
std::string host_source(const SourceUnit& unit);

/// The translated text; line numbers do not change. The prelude defines macros.
std::string translated(std::string_view text, std::string_view prelude = {});

// Finds `__cluster_dims__(…)` in a CUDA source. A C++ compiler has no attribute for it that a
// program could read.

/// The arguments of `__cluster_dims__` by the kernel's name, without namespaces. Empty if the
/// kernel of one cannot be told, as in a macro, or if a kernel has several.
std::map<std::string, std::string> cluster_dims(std::string_view text);

// The text of tuner/host/shim, which precedes every kernel compiled for the host.

std::string_view shim_text();

/// The headers that kernels get on the host: CUDA's, our own where the text of ours is for GPUs
/// only, and what these include. They precede all others of their name.
struct ShimHeader {
  std::string_view name, text;
};
std::span<const ShimHeader> shim_headers();

}  // namespace autotune
