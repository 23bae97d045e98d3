// SPDX-License-Identifier: Apache-2.0
// As device/chunk_copy.cuh.
#pragma once

#include "device/bulk_copy.cuh"

template <bool kThroughL1>
inline void copy_chunk(SharedAddress to, const void* from, bool predicate) {
  autotune_host::copy(shared_pointer<void>(to), from, predicate ? 16 : 0, predicate ? 0 : 16);
}
inline void arrive_after_copies(SharedAddress barrier) {
  autotune_host::commit_copies();
  autotune_host::wait_copies(0);
  arrive(barrier);
}
