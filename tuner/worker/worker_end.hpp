// SPDX-License-Identifier: Apache-2.0
// How a worker ends when its parent is gone.
#pragma once

namespace autotune {

/// Kills this process and all that it has started. By itself where somebody started it by hand: the
/// group is that of others then.
[[noreturn]] void end_worker();

}  // namespace autotune
