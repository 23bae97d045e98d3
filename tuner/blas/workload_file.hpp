// SPDX-License-Identifier: Apache-2.0
// The workload file: JSON lines, each a shape and how often it was called since the line before.
// Lines of one shape add up, whichever process wrote them.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/blas/call_table.hpp"

namespace autotune::blas {

/// One line, without its end.
std::string workload_line(const CallShape& shape, std::uint64_t calls);

/// Appends the calls of an entry that are not in the file AUTOTUNE_BLAS_RECORD yet. Warns once if
/// it cannot be written.
void record_calls(CallEntry& entry);

/// Appends whole lines to a file, in one write unless the system takes them in parts. Begins a new
/// line where the file ends within one. False, and one warning a process, if that fails; a part of
/// the lines may then be in the file.
bool append_text(const std::string& file, const std::string& added);

}  // namespace autotune::blas
