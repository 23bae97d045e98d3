// SPDX-License-Identifier: Apache-2.0
// Temporary folders that are removed however the process ends.
#pragma once

#include <filesystem>
#include <string_view>

namespace autotune {

/// A folder below $TMPDIR or /tmp, removed with its contents. It is locked while in use, so a
/// folder without a lock is that of a killed process. Throws Error.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  // -1 too if the file system has no locks
};

/// Writes a file in a temporary folder. Throws Error with what to do if the disk is full.
void write_temporary(const std::filesystem::path& file, std::string_view bytes);

/// Removes folders that killed processes of this user left.
void remove_abandoned_folders();

/// Removes all folders of this process before it ends: a thread that makes another one waits for
/// the end. Thread-safe.
void remove_own_folders();

}  // namespace autotune
