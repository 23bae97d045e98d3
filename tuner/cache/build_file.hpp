// SPDX-License-Identifier: Apache-2.0
// One build as a file: a header line with sizes and hash, the log, the binary.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "tuner/cache/build_cache.hpp"

namespace autotune {

/// nullopt where there is no such file or it is not whole.
std::optional<Build> read_build(const std::filesystem::path& path);

/// Writes a file aside and renames it to `path`. Returns its bytes, or -1 with errno set.
std::int64_t write_build(const std::filesystem::path& path, const Build& build);

/// Whether this is a file that write_build() has not yet renamed.
bool is_aside(const std::filesystem::path& path);

}  // namespace autotune
