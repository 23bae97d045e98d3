// SPDX-License-Identifier: Apache-2.0
// Shared memory whose size the launch says: DYNAMIC_SHARED(float, tile); inside a function. Plain
// `extern __shared__ float tile[];` works in a target's own .cu as well. Its addresses as numbers.
#pragma once

#ifdef AUTOTUNE_HOST
#define DYNAMIC_SHARED(T, name) T* const name = static_cast<T*>(autotune_host::dynamic_shared())
#else
#define DYNAMIC_SHARED(T, name) extern __shared__ __align__(1024) T name[]
#endif

#ifdef AUTOTUNE_HOST
typedef unsigned long long SharedAddress;
#else
/// 32 bits, which is what instructions on shared memory take.
typedef unsigned SharedAddress;
#endif

template <typename T>
__device__ __forceinline__ SharedAddress shared_address(T* p) {
#ifdef AUTOTUNE_HOST
  return reinterpret_cast<SharedAddress>(p);
#else
  return static_cast<SharedAddress>(__cvta_generic_to_shared(p));
#endif
}

template <typename T>
__device__ __forceinline__ T* shared_pointer(SharedAddress at) {
#ifdef AUTOTUNE_HOST
  return reinterpret_cast<T*>(at);
#else
  return static_cast<T*>(__cvta_shared_to_generic(at));
#endif
}

/// An address that the compiler keeps in a register; else it may compute it anew at each use.
__device__ __forceinline__ SharedAddress kept(SharedAddress at) {
  asm volatile("" : "+r"(at));
  return at;
}
