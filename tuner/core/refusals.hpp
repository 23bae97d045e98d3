// SPDX-License-Identifier: Apache-2.0
// Sentences for sources that no device compiles.
#pragma once

#include <filesystem>
#include <string>

namespace autotune {

/// The source waits for all blocks of its grid. `who` is the kernel, or "it".
std::string grid_barrier_refusal(const std::string& source, const std::string& who);

/// A source read a file that it must not.
std::string file_refusal(const std::string& source, const std::filesystem::path& file);

}  // namespace autotune
