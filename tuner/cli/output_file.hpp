// SPDX-License-Identifier: Apache-2.0
// Output files of --output and --svg.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>

#include "tuner/text/plot.hpp"

namespace autotune::cli {

/// Whether the file is an SQLite database. Only regular files are read.
bool is_database(const std::filesystem::path& file);

/// Throws Error if there is such a file.
void refuse_existing(const std::filesystem::path& file);

/// As write_file(). Throws UsageError if the file is a database.
void write_output(const std::filesystem::path& file,
                  const std::function<void(std::ostream& stream)>& write);

/// Writes the plots side by side.
void write_svg(const std::filesystem::path& file, std::span<const Plot> plots);

}  // namespace autotune::cli
