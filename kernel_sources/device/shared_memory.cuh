// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory, and addresses of shared memory as numbers. DYNAMIC_SHARED(float, tile);
// stands inside a function. In a target's own .cu `extern __shared__ float tile[];` works as well.
#pragma once

#ifdef AUTOTUNE_HOST
#include "on_host/shared_memory.cuh"
#else

#define DYNAMIC_SHARED(T, name) extern __shared__ __align__(1024) T name[]

/// 32 bits, as instructions on shared memory take them.
typedef unsigned SharedAddress;

template <typename T>
__device__ __forceinline__ SharedAddress shared_address(T* p) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(p));
}

template <typename T>
__device__ __forceinline__ T* shared_pointer(SharedAddress at) {
  return static_cast<T*>(__cvta_shared_to_generic(at));
}

/// The same address, kept in a register: the compiler may not recompute it at each use.
__device__ __forceinline__ SharedAddress kept(SharedAddress at) {
  asm volatile("" : "+r"(at));
  return at;
}

#endif
