// SPDX-License-Identifier: Apache-2.0
// Private to this folder: RAII handles of CUDA resources. Errors from freeing are ignored: after a
// crash freeing fails, and the process is about to end.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace autotune {

// The meaning of CUDA errors.

/// `an illegal memory access was encountered (cudaErrorIllegalAddress)`.
std::string text_of(cudaError_t error);

/// Throws KernelFailure: crash for a sticky error, launch_error for any other.
void check_kernel(cudaError_t error, const std::string& kernel);

/// For calls that fail only in a broken environment. Throws Error, or KernelFailure(crash) for an
/// error that a kernel left behind. `doing` completes `cannot …`.
void check_cuda(cudaError_t error, const char* doing);

// Functions of the driver, without linking to it.

/// The function of this name as of CUDA 12.0; nullptr where the driver is older or is not there.
void* driver_function(const char* name);

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
