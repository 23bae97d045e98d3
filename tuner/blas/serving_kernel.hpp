// SPDX-License-Identifier: Apache-2.0
// A tuned kernel that serves a shape of call; the driver and libautotune, as it asks them.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tuner/blas/call_shape.hpp"
#include "tuner/runtime/autotune.h"

namespace autotune::blas {

// Questions to the CUDA driver that the program has loaded.

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

// Loads libautotune when the first call needs it. Programs that never call cuBLAS do not pay for
// it.

/// The functions of autotune.h that are used here.
struct RuntimeLibrary {
  decltype(&autotune_message) message = nullptr;
  decltype(&autotune_open) open = nullptr;
  decltype(&autotune_close) close = nullptr;
  decltype(&autotune_device) device = nullptr;
  decltype(&autotune_warnings) warnings = nullptr;
  decltype(&autotune_lookup) lookup = nullptr;
  decltype(&autotune_is_faster) is_faster = nullptr;
  decltype(&autotune_prepare) prepare = nullptr;
  decltype(&autotune_release) release = nullptr;
  decltype(&autotune_kernel_configuration) configuration = nullptr;
  decltype(&autotune_kernel_buffers) buffers = nullptr;
  decltype(&autotune_kernel_buffer) buffer = nullptr;
  decltype(&autotune_kernel_scalars) scalars = nullptr;
  decltype(&autotune_kernel_scalar) scalar = nullptr;
  decltype(&autotune_kernel_workspace) workspace = nullptr;
  decltype(&autotune_launch_with) launch_with = nullptr;
  // Not in an earlier version:
  decltype(&autotune_kernel_earns) earns = nullptr;
  decltype(&autotune_begin_call) begin_call = nullptr;
  decltype(&autotune_end_call) end_call = nullptr;
  decltype(&autotune_stop_compiling) stop_compiling = nullptr;
};

/// Loads AUTOTUNE_BLAS_LIBRARY, else the libautotune beside this library. nullptr, and a warning,
/// if that fails.
const RuntimeLibrary* runtime_library();

/// The addresses and scalars of one call, column-major.
struct CallValues {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
  const void* bias = nullptr;
  const void* scale_a = nullptr;  // of operands of 8 bits: factors
  const void* scale_b = nullptr;
  float alpha = 1, beta = 0;
};

/// A problem of a target, with the handle that compiles it.
struct PreparedProblem {
  const RuntimeLibrary* runtime = nullptr;
  autotune_handle* handle = nullptr;
  std::vector<std::int64_t> sizes;

  /// nullptr if it cannot be compiled.
  autotune_kernel* prepare() const noexcept;
};

/// Kernels are never released: graphs may hold them. A kernel with workspace serves one stream or
/// one graph, and the next graph once that one is gone.
class ServingKernel {
 public:
  enum class Operand : std::uint8_t { first, second, added, result, first_scale, second_scale };
  /// The arguments of a kernel: the operands of the row-major problem, one for each buffer, then
  /// alpha and beta or no scalars.
  struct Arguments {
    std::vector<Operand> operands;
    bool takes_scalars = false;
  };

  /// `stand_in` is launched if there is no memory for a workspace; it may be nullptr.
  ServingKernel(PreparedProblem problem, autotune_kernel* kernel, Arguments arguments,
                const ServingKernel* stand_in);

  /// Whether some calls are timed, and cuBLAS may be what serves.
  bool earns() const noexcept { return earns_; }
  /// Whether cuBLAS is to run the next call, on this stream, in place of launch(). If the call is
  /// timed, end_call() must follow it.
  bool leaves_to_vendor(Stream stream, bool& is_timed) const noexcept;
  void end_call(Stream stream, bool has_run) const noexcept;

  /// Outcome::served, or why it could not be launched: failed, or no_workspace.
  Outcome launch(const CallValues& values, Stream stream) const noexcept;

 private:
  /// A kernel that a stream or a capture has.
  struct Claim {
    autotune_kernel* kernel = nullptr;
    Place place;
    std::atomic<bool> is_over{false};  // the graph of the capture is gone
  };

  autotune_kernel* kernel_for(Stream stream) const noexcept;
  autotune_kernel* another_kernel() const noexcept;

  PreparedProblem problem_;
  autotune_kernel* kernel_;
  Arguments arguments_;
  const ServingKernel* stand_in_;
  bool earns_;
  std::uint64_t workspace_;  // bytes; must not be used by two streams or graphs at a time
  mutable std::mutex claiming_;
  mutable std::list<Claim> claims_;  // of kernels with workspace
};

}  // namespace autotune::blas
