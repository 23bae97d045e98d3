// SPDX-License-Identifier: Apache-2.0
// A thread with a large stack, for deep recursion.
#pragma once

#include <functional>

namespace autotune {

/// Calls `work` on a thread with 256 MiB of stack (or less, if the system allows no more) and waits
/// for it. Rethrows its exception.
void on_large_stack(const std::function<void()>& work);

}  // namespace autotune
