// SPDX-License-Identifier: Apache-2.0
// Blocks of one cluster: rank, barrier, a neighbour's shared memory. From compute capability 9.0.
#pragma once

__device__ __forceinline__ int cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// All threads of all blocks of the cluster; what they wrote to shared memory is seen after it.
__device__ __forceinline__ void cluster_barrier() {
  __syncthreads();  // a warp must arrive as one, and loops before may have parted it
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

/// Where this block's shared variable lies in the block `rank`.
template <typename T>
__device__ __forceinline__ const T* in_block(const T* shared, int rank) {
  const T* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
  return there;
}
