// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace autotune {

/// `write` makes a new file at the path that it gets, which lies beside `file` and is then renamed
/// to it. So whoever reads finds the old file or the new one, and a failure leaves the old one. A
/// link stays one; permissions stay; a device or a pipe is written as it is. Throws what `write`
/// throws, and std::system_error `FILE: cannot be written: why`.
void replace_file(const std::filesystem::path& file,
                  const std::function<void(const std::filesystem::path& aside)>& write);

/// The same for what is written to a stream. It is on the disk when this returns.
void write_file(const std::filesystem::path& file,
                const std::function<void(std::ostream& stream)>& write);

/// Whether this is a file that replace_file() has not yet renamed.
bool is_aside(const std::filesystem::path& path);

}  // namespace autotune
