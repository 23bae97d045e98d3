// SPDX-License-Identifier: Apache-2.0
// Folders for files that nobody is to find later, however the process ends.
#pragma once

#include <filesystem>

namespace autotune {

/// A folder of its own below $TMPDIR or /tmp, removed with all it holds. It is locked while it is
/// in use: what a killed process left is told by that. Throws Error.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  // also where the file system has none
};

/// Removes those that killed processes of this user left.
void remove_abandoned_folders();

/// Removes all of this process, which ends at once; from any thread.
void remove_own_folders();

}  // namespace autotune
