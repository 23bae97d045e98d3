// SPDX-License-Identifier: Apache-2.0
// Ends a worker whose parent is gone.
#pragma once

namespace autotune {

/// Kills this process and everything that it started. A worker started by hand only ends itself,
/// because its group belongs to others.
[[noreturn]] void end_worker();

}  // namespace autotune
