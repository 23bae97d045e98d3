// SPDX-License-Identifier: Apache-2.0
// Thread block clusters, beside cluster.cuh: the barrier in two halves, and stores to the shared
// memory of other blocks. From compute capability 9.0 on.
#pragma once

#include "shared_memory.cuh"

/// Arrives at the cluster's barrier, which has two halves: what a thread does between them needs
/// nothing of other blocks. Every thread of the cluster arrives, then waits, before it arrives
/// again; those that have ended are not waited for. Warps must be converged at both.
__device__ __forceinline__ void cluster_arrive() {
#ifdef AUTOTUNE_HOST
  __cluster_barrier_arrive();
#else
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

/// Returns when all threads have arrived. What they wrote to shared memory before is then visible.
__device__ __forceinline__ void cluster_wait() {
#ifdef AUTOTUNE_HOST
  __cluster_barrier_wait();
#else
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/// The address of this block's shared variable in the block `rank`. Only stores of this header
/// take it.
__device__ __forceinline__ SharedAddress address_in_block(SharedAddress at, int rank) {
#ifdef AUTOTUNE_HOST
  return shared_address(__cluster_map_shared_rank(shared_pointer<void>(at), rank));
#else
  SharedAddress there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank));
  return there;
#endif
}

__device__ __forceinline__ unsigned bits_of(float x) { return __float_as_uint(x); }
__device__ __forceinline__ unsigned bits_of(int x) { return x; }

/// Stores four floats or ints to an address of address_in_block(), a multiple of 16.
template <typename T>
__device__ __forceinline__ void store_in_block(SharedAddress to, T x, T y, T z, T w) {
#ifdef AUTOTUNE_HOST
  const T values[] = {x, y, z, w};
  for (int i = 0; i < 4; ++i) shared_pointer<T>(to)[i] = values[i];
#else
  asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(bits_of(x)),
               "r"(bits_of(y)), "r"(bits_of(z)), "r"(bits_of(w))
               : "memory");
#endif
}
