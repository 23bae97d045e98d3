// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace autotune {

/// `write` writes a new file at the path that it gets, beside `file`; then the new file is renamed
/// to `file`. A reader finds the old or the new file, and a failure leaves the old one. A link
/// stays a link, and permissions stay; a device or pipe is written directly. Throws what `write`
/// throws, and std::system_error `FILE: cannot be written: why`.
void replace_file(const std::filesystem::path& file,
                  const std::function<void(const std::filesystem::path& aside)>& write);

/// The same with a stream. The file is on the disk when this returns.
void write_file(const std::filesystem::path& file,
                const std::function<void(std::ostream& stream)>& write);

/// Whether this is a new file that replace_file() has not renamed yet.
bool is_aside(const std::filesystem::path& path);

}  // namespace autotune
