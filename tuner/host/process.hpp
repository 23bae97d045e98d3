// SPDX-License-Identifier: Apache-2.0
// Runs a program to its end, or to its limit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace autotune {

struct ProcessResult {
  bool timed_out = false;
  int status = 0;      // exit status; 128 + signal when one ended it
  std::string output;  // stdout and stderr together
};

/// Starts argv[0] (a path) in a process group of its own and waits for it; after `limit_seconds`
/// the whole group is killed. Throws Error when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv, double limit_seconds);

/// `name` as found in $PATH, or as given when it holds a slash; empty when there is no such
/// program.
std::filesystem::path find_program(const std::string& name);

/// A folder of its own below $TMPDIR or /tmp, removed with all it holds. Throws Error.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace autotune
