// SPDX-License-Identifier: Apache-2.0
// On the host this is `device/cluster.cuh`, which has nothing but instructions of GPUs. That header
// itself stays as it is: results of gemm belong to its text.
#pragma once

inline int cluster_rank() { return static_cast<int>(__clusterRelativeBlockRank()); }
inline void cluster_barrier() {
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}
template <class T>
inline const T* in_block(const T* shared, int rank) {
  return static_cast<const T*>(__cluster_map_shared_rank(shared, static_cast<unsigned>(rank)));
}
