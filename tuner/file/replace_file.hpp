// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all, and network file systems.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string_view>

namespace autotune {

/// `NFS`, `Lustre`, `GPFS` or `SMB` if the file, or the nearest folder above it that exists, is on
/// one; else empty.
std::string_view shared_file_system(const std::filesystem::path& file);

/// The name of a file system by the type that statfs() reports; empty for all that are local.
std::string_view shared_file_system_of_type(long type);

/// An empty new file beside `file`, under a name that nobody can foresee, so that no link stands
/// there. It has its final permissions from the start: those of `file` if that exists, else `mode`
/// less the umask. Unless it is renamed, the destructor removes it. Throws std::system_error
/// `FILE: cannot be written: why`.
class AsideFile {
 public:
  explicit AsideFile(std::filesystem::path file, mode_t mode = 0666);
  ~AsideFile();
  AsideFile(const AsideFile&) = delete;
  AsideFile& operator=(const AsideFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  /// Replaces what is there.
  void rename_to(const std::filesystem::path& file);

 private:
  std::filesystem::path file_, path_;
  int descriptor_ = -1;
};

/// Writes a new file and renames it to `file`. A reader finds the old or the new file, and a
/// failure leaves the old one. The new file is on the disk when this returns. A link stays a link,
/// unless it may be a trap: it stands in a folder where everyone may write and only owners delete,
/// and belongs neither to this user nor to the folder's owner. Permissions stay; a device or pipe
/// is written directly. Throws what `write` throws, and std::system_error
/// `FILE: cannot be written: why`.
void write_file(const std::filesystem::path& file,
                const std::function<void(std::ostream& stream)>& write);

/// Writes a new file that only this user can read and renames it to `file`, as write_file() does.
/// It may be damaged or missing after the machine crashes.
void write_private_file(const std::filesystem::path& file, std::string_view bytes);

/// Whether this is the path of an AsideFile.
bool is_aside(const std::filesystem::path& path);

}  // namespace autotune
