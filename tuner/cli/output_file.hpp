// SPDX-License-Identifier: Apache-2.0
// Output files of --output.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

namespace autotune::cli {

/// Whether the file is an SQLite database. Only regular files are read.
bool is_database(const std::filesystem::path& file);

/// Throws Error if there is such a file.
void refuse_existing(const std::filesystem::path& file);

/// As write_file(). Throws UsageError if the file is a database.
void write_output(const std::filesystem::path& file,
                  const std::function<void(std::ostream& stream)>& write);
/// The same; to stdout without a file.
void write_result(const std::optional<std::string>& file,
                  const std::function<void(std::ostream& stream)>& write);

}  // namespace autotune::cli
