// SPDX-License-Identifier: Apache-2.0
// As device/lanes.cuh.
#pragma once

/// COUNT is a power of two.
template <typename T, int COUNT>
struct LanesOf {
  typedef T Type __attribute__((vector_size(COUNT * sizeof(T)), aligned(sizeof(T)), may_alias));
};
template <typename T, int COUNT>
using Lanes = typename LanesOf<T, COUNT>::Type;
