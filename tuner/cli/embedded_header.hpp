// SPDX-License-Identifier: Apache-2.0
// A C++ header with tuned sizes, their cubins and the code that launches them: `db export --embed`.
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>

#include "tuner/cli/compiled_answers.hpp"

namespace autotune::cli {

/// The parts of the header that are the same for every target. They need C++17 and the CUDA driver
/// API. The rows come first: types and find(). Then the class Kernel, which loads and launches.
extern const std::string_view kEmbeddedRows;
extern const std::string_view kEmbeddedKernel;

/// Writes the header. The answers are of one target with the same settings, and compiled.
void write_embedded_header(std::ostream& out, std::span<const CompiledAnswer> answers);

}  // namespace autotune::cli
