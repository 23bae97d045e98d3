// SPDX-License-Identifier: Apache-2.0
// A C++ header with tuned sizes, their cubins and what launches them: `db export --embed`.
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>

#include "tuner/cli/compiled_answers.hpp"

namespace autotune::cli {

/// Types and functions of the header that depend on no target: C++17 and the CUDA driver API.
extern const std::string_view kEmbeddedRuntime;

/// Writes the header. The answers are of one target with the same settings, and compiled.
void write_embedded_header(std::ostream& out, std::span<const CompiledAnswer> answers);

}  // namespace autotune::cli
