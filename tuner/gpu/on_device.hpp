// SPDX-License-Identifier: Apache-2.0
// Selects a thread's GPU for a scope.
#pragma once

#include <new>

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

}  // namespace autotune
