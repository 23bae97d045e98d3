// SPDX-License-Identifier: Apache-2.0
// Sentences for sources that a device does not compile.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/core/launch.hpp"

namespace autotune {

/// A kernel's name as its source has it: without the `::` of no namespace.
std::string_view written_name(std::string_view entry);

/// The source waits for all blocks of its grid. `who` is the kernel, or "it".
std::string grid_barrier_refusal(const std::string& source, const std::string& who);

/// A source read a file that it must not.
std::string file_refusal(const std::string& source, const std::filesystem::path& file);

/// The host's compiler has not found a header of CUDA's libraries; empty if that is not so.
std::string missing_header_refusal(const std::string& source, std::string_view log);

/// The unit with <cuda_runtime.h>, which nvcc includes by itself, if the log of its compiler lacks
/// a name of that header.
std::optional<SourceUnit> with_runtime_header(const SourceUnit& unit, std::string_view log);

/// Sentences to put before a compiler's log: on names that a source declares and that the
/// manifest's macros break, and on host code. Often empty.
std::string advice_on(const SourceUnit& unit, std::string_view log);

}  // namespace autotune
