// SPDX-License-Identifier: Apache-2.0
// The common frame of programs with a command line, and Ctrl-C.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "tuner/cli/arguments.hpp"

namespace autotune::cli {

/// The arguments of a verb, with a target's old name, and sizes in its order, by the new one. A
/// line of `notes` says so. A name that is not listed means a manifest of this folder. Throws
/// UsageError.
std::vector<std::string> words_by_new_name(const Verb& verb, std::vector<std::string> words,
                                           std::ostream& notes);

/// Runs `body` with safe streams and returns its exit status. Turns an exception into one sentence
/// on stderr and a status.
int run_program(const std::function<int()>& body);

// Ctrl-C: the first ends the run after the running launch, the second ends the process.

/// Exit status of a run that Ctrl-C ended.
inline constexpr int kInterrupted = 130;

/// From now on until there is an InterruptGuard, a signal ends the process at once with
/// kInterrupted, and it says that nothing was measured. Workers end with the process.
void catch_interrupts_at_start();

/// Catches SIGINT, SIGTERM, SIGHUP and SIGQUIT while it lives; only one object at a time. SIGQUIT
/// ends the process at once, as does a second of the other signals. Temporary folders are removed
/// first.
class InterruptGuard {
 public:
  /// `on_first` is called from another thread at the first signal.
  explicit InterruptGuard(std::function<void()> on_first);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool requested();

 private:
  std::thread listener_;
};

}  // namespace autotune::cli
