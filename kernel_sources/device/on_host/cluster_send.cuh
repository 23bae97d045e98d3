// SPDX-License-Identifier: Apache-2.0
// As device/cluster_send.cuh.
#pragma once

#include "device/bulk_copy.cuh"
#include "device/cluster.cuh"  // the host device has its own

/// The address of the same variable in the block `rank` of the cluster.
inline SharedAddress address_in_block(SharedAddress at, int rank) {
  return shared_address(in_block(shared_pointer<const char>(at), rank));
}

template <class T>
inline void send_four(SharedAddress to, const T* words, SharedAddress barrier) {
  for (int i = 0; i < 4; ++i) shared_pointer<T>(to)[i] = words[i];
  barrier_at(barrier).bytes -= 4 * sizeof(T);
  barrier_at(barrier).end_phase();
}
