// SPDX-License-Identifier: Apache-2.0
// Questions to the CUDA driver that the program has loaded.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "tuner/blas/cublas_abi.hpp"

namespace autotune::blas {

/// The ordinal of the calling thread's GPU; -1 if there is none.
int current_device() noexcept;
/// Bytes of its memory; 0 if the driver does not say.
std::uint64_t device_memory(int ordinal) noexcept;
/// Its name; empty if the driver does not say.
std::string device_name(int ordinal);

/// Whether the stream is being captured, or may be.
bool may_be_captured(Stream stream) noexcept;

/// Whether the stream's capture is broken, or another capture excludes work on it.
bool is_capture_broken(Stream stream) noexcept;

/// A sequence of work: a stream, or its part of a capture.
struct Place {
  Stream stream = nullptr;
  std::uint64_t capture = 0;  // its number; 0: the stream itself

  auto operator<=>(const Place&) const = default;
};

/// nullopt if the driver does not say. Also for cudaStreamPerThread, which means another stream in
/// each thread.
std::optional<Place> place_of(Stream stream) noexcept;

/// Sets `is_over` once the graph that the stream is being captured into, and everything made from
/// it, is gone. False if the driver cannot tell.
bool note_end_of_graph(Stream stream, std::atomic<bool>& is_over) noexcept;

/// While it lives, this thread may load code and allocate, although another thread captures.
class RelaxedThread {
 public:
  RelaxedThread() noexcept;
  ~RelaxedThread();
  RelaxedThread(const RelaxedThread&) = delete;
  RelaxedThread& operator=(const RelaxedThread&) = delete;

 private:
  int mode_ = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED, then the mode before
};

}  // namespace autotune::blas
