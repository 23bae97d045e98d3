// SPDX-License-Identifier: Apache-2.0
// What a program called, at its end: the report (what was served, what was passed on, and why), and
// the workload file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tuner/blas/call_table.hpp"

namespace autotune::blas {

/// A summary, and a table with a line for each of the shapes with the most floating-point
/// operations.
std::string report_of(std::span<CallEntry* const> entries);

/// Appends the report to a file, or writes it to `stderr`.
void write_report(const std::string& where, std::span<CallEntry* const> entries);

/// A line of the workload file, without its end: JSON, a shape and how often it was called since
/// the line before. Lines of one shape add up, whichever process wrote them.
std::string workload_line(const CallShape& shape, std::uint64_t calls);

/// Appends the calls of an entry that are not in the file AUTOTUNE_BLAS_RECORD yet. Warns once if
/// it cannot be written.
void record_calls(CallEntry& entry);

/// Appends whole lines to a file, in one write unless the system takes them in parts. Begins a new
/// line where the file ends within one. False, and one warning a process, if that fails; a part of
/// the lines may then be in the file.
bool append_text(const std::string& file, const std::string& added);

}  // namespace autotune::blas
