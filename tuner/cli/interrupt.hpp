// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first asks the run to end after the running launch, the second ends the process.
#pragma once

namespace autotune::cli {

/// Catches SIGINT and SIGTERM while it lives.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool requested();
};

}  // namespace autotune::cli
