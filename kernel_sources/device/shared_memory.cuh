// SPDX-License-Identifier: Apache-2.0
// Shared memory whose size the launch says: DYNAMIC_SHARED(float, tile); inside a function. Plain
// `extern __shared__ float tile[];` works in a target's own .cu as well.
#pragma once

#ifdef AUTOTUNE_HOST
#define DYNAMIC_SHARED(T, name) \
  T* const name = static_cast<T*>(autotune_host::dynamic_shared())
#else
#define DYNAMIC_SHARED(T, name) extern __shared__ __align__(1024) T name[]
#endif
