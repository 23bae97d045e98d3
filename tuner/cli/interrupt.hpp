// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first asks the run to end after the running launch, the second ends the process.
#pragma once

#include <functional>
#include <thread>

namespace autotune::cli {

/// Catches SIGINT, SIGTERM, SIGHUP and SIGQUIT while it lives; one at a time. SIGQUIT ends the
/// process at once, as the second of the others does. Temporary folders are removed before that.
class InterruptGuard {
 public:
  /// `on_first` is called from another thread.
  explicit InterruptGuard(std::function<void()> on_first);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool requested();

 private:
  std::thread listener_;
};

}  // namespace autotune::cli
