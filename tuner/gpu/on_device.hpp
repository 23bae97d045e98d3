// SPDX-License-Identifier: Apache-2.0
// What runs on a GPU beside the CUDA device: selects a thread's GPU for a scope, looks at captures,
// times single calls of a program, and launches a compiled configuration (PreparedKernel).
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tuner/core/launch.hpp"

namespace autotune {

/// Selects a GPU for this thread: its primary context, unless a context of this GPU is current,
/// which may be the program's own. The destructor makes the previous context current again, or
/// none. Creates no context of another GPU.
class OnDevice {
 public:
  /// Throws Error.
  explicit OnDevice(int ordinal);
  /// For clean-up. Selects nothing where that fails.
  OnDevice(int ordinal, std::nothrow_t) noexcept;
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  [[maybe_unused]] void* before_ = nullptr;  // a CUcontext; not in a build without CUDA
};

// Work during the capture of streams into CUDA graphs.

/// While it lives, this thread may load code, and allocate and free memory, although some stream is
/// being captured (cuThreadExchangeStreamCaptureMode). In the default mode, such a call fails and
/// breaks the capture.
class RelaxedCapture {
 public:
  RelaxedCapture();
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  [[maybe_unused]] int before_;  // a CUstreamCaptureMode; not in a build without CUDA
};

/// Whether `stream` (a cudaStream_t) is being captured. NULL is that of the thread's GPU.
bool is_captured(void* stream);

/// Whether the capture of `stream` (a cudaStream_t) is broken.
bool is_capture_broken(void* stream);

// Times single calls on a stream of a program, by events beside them.

/// Not thread-safe. One call at a time: begin(), the call, end(), then seconds() until it tells.
/// The functions throw where CUDA fails.
class CallTimer {
 public:
  CallTimer() = default;
  virtual ~CallTimer() = default;
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

  /// False while the stream is being captured, or may be.
  virtual bool may_time(void* stream) = 0;
  virtual void begin(void* stream) = 0;
  /// False if the stream had no work ahead of the call, so that its time would be the host's.
  virtual bool end(void* stream) = 0;
  /// nullopt until the call has ended. Does not wait.
  virtual std::optional<double> seconds() = 0;
};

/// On this GPU. Throws Error.
std::unique_ptr<CallTimer> make_call_timer(int ordinal);

// A compiled configuration, loaded on a GPU and launched on the caller's stream and memory.

/// Thread-safe. A kernel with workspace must not run on two streams at a time.
class PreparedKernel {
 public:
  /// Loads the cubin on the GPU `ordinal`; allocates and fills the workspace. `buffers` are the
  /// workload's. Throws KernelFailure (launch_error) if the driver refuses the cubin, Error if
  /// memory is short.
  PreparedKernel(int ordinal, std::string_view cubin, LaunchPlan plan,
                 std::vector<BufferSpec> buffers, EarlyStart early = EarlyStart::captured);
  ~PreparedKernel();

  /// `addresses` are device memory, one for each buffer of the workload. `scalars` replace those of
  /// the same names. `stream` is a cudaStream_t of that GPU; it may be captured, and the call does
  /// not synchronize. `constant` names the buffer whose contents are unchanged since the last
  /// complete call, always the same one; empty: none. `workspace` is the number of the workspace
  /// that is used; those up to it are allocated. Throws KernelFailure, and Error if memory is
  /// short.
  void launch(std::span<void* const> addresses, std::span<const Scalar> scalars, void* stream,
              std::string_view constant = {}, std::size_t workspace = 0);

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
  [[maybe_unused]] int ordinal_ = 0;
  [[maybe_unused]] EarlyStart early_;  // not in a build without CUDA
};

}  // namespace autotune
