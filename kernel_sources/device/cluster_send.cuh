// SPDX-License-Identifier: Apache-2.0
// Words that a thread sends to the shared memory of another block of its cluster, where a barrier
// counts them, as it counts the copies of TMA. From compute capability 9.0 on.
#pragma once

#include "bulk_copy.cuh"
#include "device/cluster.cuh"
#ifdef AUTOTUNE_HOST
#include "on_host/cluster_send.cuh"
#else

__device__ __forceinline__ SharedAddress address_in_block(SharedAddress at, int rank) {
  SharedAddress there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank));
  return there;
}

__device__ __forceinline__ unsigned bits_of(float x) { return __float_as_uint(x); }
__device__ __forceinline__ unsigned bits_of(int x) { return x; }

/// Four values of 32 bits. `to`, a multiple of 16, and `barrier` are in the same block.
template <class T>
__device__ __forceinline__ void send_four(SharedAddress to, const T* words, SharedAddress barrier) {
  static_assert(sizeof(T) == 4, "a word has 32 bits");
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(to),
      "r"(bits_of(words[0])), "r"(bits_of(words[1])), "r"(bits_of(words[2])),
      "r"(bits_of(words[3])), "r"(barrier)
      : "memory");
}

#endif
