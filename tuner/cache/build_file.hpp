// SPDX-License-Identifier: Apache-2.0
// One build as a file: a header line with sizes and hash, the log, the binary.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "tuner/cache/build_cache.hpp"

namespace autotune {

/// nullopt if there is no such file, or if it is damaged.
std::optional<Build> read_build(const std::filesystem::path& path);

/// As replace_file(). Returns its bytes, or -1 with errno set.
std::int64_t write_build(const std::filesystem::path& path, const Build& build);

}  // namespace autotune
