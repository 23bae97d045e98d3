// SPDX-License-Identifier: Apache-2.0
// Starts programs; runs one to its end or to a time limit. Temporary folders.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

/// Passes a descriptor to the program under the number `as`, which must differ from its own.
struct Handed {
  int descriptor, as;
};

/// The process group of a program. A group of its own can be killed as a whole and gets no Ctrl-C.
/// A program in our group ends with us.
enum class ProcessGroup : std::uint8_t { own, ours };

/// Where a program writes.
struct Outputs {
  int out, err;
};

/// Starts argv[0], a path. The program has no input. It has the default action of SIGTERM even if
/// we ignore it. It gets the descriptors in `handed` and those without close-on-exec. It runs in
/// `folder`, or in ours. Throws Error.
pid_t start_process(const std::vector<std::string>& argv, Outputs outputs,
                    const std::vector<Handed>& handed = {}, ProcessGroup group = ProcessGroup::own,
                    const std::filesystem::path& folder = {});

/// Of a longer output, the first and the last bytes are kept, half of this each.
inline constexpr std::size_t kMostOutput = std::size_t{64} << 10;

struct ProcessResult {
  bool timed_out = false;
  int status = 0;      // exit status, or 128 + signal
  std::string output;  // stdout and stderr together, see kMostOutput
};

/// Starts argv[0], a path, in its own process group and waits for it. Kills the whole group after
/// `limit_seconds`. Throws Error if it cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv, double limit_seconds,
                          const std::filesystem::path& folder = {});

/// The same in our process group and without a limit.
ProcessResult run_beside_us(const std::vector<std::string>& argv,
                            const std::filesystem::path& folder = {});

/// A program's stdout, apart from its stderr, which is `output`.
struct ProcessText : ProcessResult {
  std::string text;
  bool is_too_long = false;  // the program may still run
};

/// The same. Does not wait for a program that prints more than `most_bytes` to stdout.
ProcessText text_of_process(const std::vector<std::string>& argv, std::size_t most_bytes);

/// Signals of faults of the code that gets them.
inline constexpr std::array kFaultSignals = {SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
                                             SIGTRAP, SIGABRT, SIGSYS};

/// The path of the program `name` in $PATH; `name` itself if it has a slash. Empty if there is no
/// such program.
std::filesystem::path find_program(const std::string& name);

// Temporary folders that are removed however the process ends.

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
