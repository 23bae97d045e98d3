// SPDX-License-Identifier: Apache-2.0
// Private to this folder: RAII handles of CUDA resources. Errors from freeing are ignored: after a
// crash freeing fails, and the process is about to end.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "tuner/gpu/cuda_check.hpp"

namespace autotune {

/// A deleter that calls a runtime function.
template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* handle) const {
    static_cast<void>(Free(handle));
  }
};

template <class Handle, auto Free>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Freed<Free>>;

using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;
using Library = Owned<cudaLibrary_t, cudaLibraryUnload>;
using PinnedMemory = Owned<void*, cudaFreeHost>;

inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "make a stream");
  return Stream(stream);
}

inline Event make_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "make an event");
  return Event(event);
}

/// Device memory, 256-byte aligned; empty for 0 bytes.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::int64_t bytes) {
    void* address = nullptr;
    if (bytes == 0) return;
    check_cuda(cudaMalloc(&address, static_cast<std::size_t>(bytes)), "allocate memory");
    memory_.reset(address);
  }

  std::byte* get() const { return static_cast<std::byte*>(memory_.get()); }
  template <class T>
  T* as() const {
    return static_cast<T*>(memory_.get());
  }

 private:
  std::unique_ptr<void, Freed<cudaFree>> memory_;
};

}  // namespace autotune
