// SPDX-License-Identifier: Apache-2.0
// A C++ header with tuned sizes, their cubins and the code that launches them: `db export --embed`.
#pragma once

#include <iosfwd>
#include <span>

#include "tuner/cli/compiled_answers.hpp"

namespace autotune::cli {

/// Writes the header. The answers are of one target with the same settings, and compiled.
void write_embedded_header(std::ostream& out, std::span<const CompiledAnswer> answers);

}  // namespace autotune::cli
