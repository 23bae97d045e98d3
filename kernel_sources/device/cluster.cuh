// SPDX-License-Identifier: Apache-2.0
// Thread block clusters: rank, barrier, distributed shared memory. From compute capability 9.0 on.
#pragma once

__device__ __forceinline__ int cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// A barrier for all threads of the cluster. After it each sees what others wrote to shared memory.
__device__ __forceinline__ void cluster_barrier() {
  __syncthreads();  // a warp must arrive converged, and it may have diverged before
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

/// The address of this block's shared variable in the block `rank`.
template <typename T>
__device__ __forceinline__ const T* in_block(const T* shared, int rank) {
  const T* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
  return there;
}
