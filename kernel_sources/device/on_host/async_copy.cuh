// SPDX-License-Identifier: Apache-2.0
// As device/async_copy.cuh. A copy is made in the wait, as late as it may be.
#pragma once

template <int Bytes>
inline void copy_async(void* shared, const void* global, bool predicate = true) {
  autotune_host::copy(shared, global, predicate ? Bytes : 0, predicate ? 0 : Bytes);
}
inline void commit_copies() { autotune_host::commit_copies(); }
template <int Groups>
inline void wait_copies() {
  autotune_host::wait_copies(Groups);
}
