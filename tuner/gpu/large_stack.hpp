// SPDX-License-Identifier: Apache-2.0
// A thread of its own for work that recurses as deep as its input is nested.
#pragma once

#include <functional>

namespace autotune {

/// Calls `work` on a thread with 256 MiB of stack, or with less where the system allows no more,
/// and waits. What it throws is thrown here.
void on_large_stack(const std::function<void()>& work);

}  // namespace autotune
