// SPDX-License-Identifier: Apache-2.0
// Starts programs; runs one to its end, or to its limit.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace autotune {

/// A descriptor of ours as the program's descriptor number `as`; its own number may not be that.
struct Handed {
  int descriptor, as;
};

/// Which process group a program is started in: one of its own can be killed as a whole, and Ctrl-C
/// stays ours; in ours it ends with us.
enum class ProcessGroup : std::uint8_t { own, ours };

/// Starts argv[0] (a path). It reads nothing, writes stdout and stderr to `output`, ends on SIGTERM
/// even where we do not, and has of our descriptors what is `handed` on and what does not close on
/// exec. Throws Error.
pid_t start_process(const std::vector<std::string>& argv, int output,
                    const std::vector<Handed>& handed = {}, ProcessGroup group = ProcessGroup::own);

struct ProcessResult {
  bool timed_out = false;
  int status = 0;      // exit status; 128 + signal when one ended it
  std::string output;  // stdout and stderr together
};

/// Starts argv[0] (a path) in a process group of its own and waits for it; after `limit_seconds`
/// the whole group is killed. Throws Error when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv, double limit_seconds);

/// The same in our own process group and without a limit.
ProcessResult run_beside_us(const std::vector<std::string>& argv);

/// `name` as found in $PATH, or as given when it holds a slash; empty when there is no such
/// program.
std::filesystem::path find_program(const std::string& name);

}  // namespace autotune
