// SPDX-License-Identifier: Apache-2.0
// From a unit of CUDA to one of C++.
#pragma once

#include <string>
#include <string_view>

#include "tuner/core/launch.hpp"

namespace autotune {

/// The name under which a module exports the RunBlocks of a kernel.
std::string run_symbol(std::string_view entry);
/// And of the function that returns the bytes of its parameters, ended by a 0.
std::string parameters_symbol(std::string_view entry);

/// Shim, prelude, text and one exported function a kernel, with #line so that messages name the
/// unit's own lines. In the text, not in what it includes, two things are put into other words:
/// `#pragma unroll` as g++ has it, and `extern __shared__ T name[];`, which must stand inside a
/// function.
std::string host_source(const SourceUnit& unit);

/// The text's part of it; line numbers stay.
std::string translated(std::string_view text);

}  // namespace autotune
