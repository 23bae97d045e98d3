// SPDX-License-Identifier: Apache-2.0
// Selects a thread's GPU for a scope.
#pragma once

namespace autotune {

/// Selects a GPU for this thread. The destructor selects the previous one again.
class OnDevice {
 public:
  /// Throws Error.
  explicit OnDevice(int ordinal);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  [[maybe_unused]] int before_ = 0;  // not in a build without CUDA
};

}  // namespace autotune
