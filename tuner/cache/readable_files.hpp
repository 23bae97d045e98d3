// SPDX-License-Identifier: Apache-2.0
// Which files a source may read while it is compiled. Others could hold results.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

namespace autotune {

/// Whether the file's extension is that of a header or source.
bool is_header(const std::filesystem::path& path);

/// Whether the file lies below the folder; links do not matter.
bool is_below(const std::filesystem::path& file, const std::filesystem::path& folder);

/// The first of the files, as a compiler names them, that a source must not read. It may read what
/// lies below `folders`, and headers that it reaches from there by `../`. `data` is what it must
/// not read anywhere: inputs and results.
std::optional<std::filesystem::path> first_forbidden(std::span<const std::filesystem::path> files,
                                                     std::span<const std::filesystem::path> folders,
                                                     std::span<const std::filesystem::path> data);

}  // namespace autotune
