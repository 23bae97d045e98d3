// SPDX-License-Identifier: Apache-2.0
// Recognizes network file systems.
#pragma once

#include <filesystem>
#include <string_view>

namespace autotune {

/// `NFS`, `Lustre`, `GPFS` or `SMB` if the file, or the nearest folder above it that exists, is on
/// one; else empty.
std::string_view shared_file_system(const std::filesystem::path& file);

/// The name of a file system by the type that statfs() reports; empty for all that are local.
std::string_view shared_file_system_of_type(long type);

}  // namespace autotune
