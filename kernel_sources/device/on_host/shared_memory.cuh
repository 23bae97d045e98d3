// SPDX-License-Identifier: Apache-2.0
// As device/shared_memory.cuh.
#pragma once

#define DYNAMIC_SHARED(T, name) T* const name = static_cast<T*>(autotune_host::dynamic_shared())

typedef unsigned long long SharedAddress;

template <typename T>
inline SharedAddress shared_address(T* p) {
  return reinterpret_cast<SharedAddress>(p);
}
template <typename T>
inline T* shared_pointer(SharedAddress at) {
  return reinterpret_cast<T*>(at);
}
inline SharedAddress kept(SharedAddress at) { return at; }
