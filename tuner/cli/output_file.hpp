// SPDX-License-Identifier: Apache-2.0
// Files that the tool writes for a user: --output, --svg.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>

#include "tuner/text/plot.hpp"

namespace autotune::cli {

/// Whether SQLite wrote this file. Only regular files are looked into.
bool is_database(const std::filesystem::path& file);

/// As write_file(). Throws UsageError where the file is a database.
void write_output(const std::filesystem::path& file,
                  const std::function<void(std::ostream& stream)>& write);

/// The plots beside each other.
void write_svg(const std::filesystem::path& file, std::span<const Plot> plots);

}  // namespace autotune::cli
