// SPDX-License-Identifier: Apache-2.0
// The report at the end of a program: what was served, what was passed on, and why.
#pragma once

#include <span>
#include <string>

#include "tuner/blas/call_table.hpp"

namespace autotune::blas {

/// A summary, and a table with a line for each of the shapes with the most floating-point
/// operations.
std::string report_of(std::span<CallEntry* const> entries);

/// Appends the report to a file, or writes it to `stderr`.
void write_report(const std::string& where, std::span<CallEntry* const> entries);

}  // namespace autotune::blas
