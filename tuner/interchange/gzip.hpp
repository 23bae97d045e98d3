// SPDX-License-Identifier: Apache-2.0
// Files that may be gzip'd, from zlib: the only place that includes it.
#pragma once

#include <filesystem>
#include <string>

namespace autotune {

/// The whole file, unpacked if it is gzip'd. Throws Error if it cannot be read or is damaged.
std::string read_maybe_gzip(const std::filesystem::path& file);

}  // namespace autotune
