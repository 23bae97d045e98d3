// SPDX-License-Identifier: Apache-2.0
// Ends a worker whose parent is gone.
#pragma once

namespace autotune {

/// Ends this process without destructors: a kernel may have damaged any of its state. Its keeper
/// kills what it started. No signal: that would mean that somebody else killed the worker.
[[noreturn]] void end_worker();

}  // namespace autotune
