// SPDX-License-Identifier: Apache-2.0
// One build as a file: a header line with key, hash and sizes, the log, the binary. The file's name
// is its key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "tuner/cache/build_cache.hpp"

namespace autotune {

/// nullopt if there is no such file, if it is damaged, or if it was made under another key.
std::optional<Build> read_build(const std::filesystem::path& path);

/// As write_private_file(). Returns its bytes, or -1 with errno set.
std::int64_t write_build(const std::filesystem::path& path, const Build& build);

/// Whether the file begins as builds of any version do.
bool is_build(const std::filesystem::path& path);

}  // namespace autotune
