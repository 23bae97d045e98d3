// SPDX-License-Identifier: Apache-2.0
// Which GPU is a thread's own, for a while.
#pragma once

namespace autotune {

/// Makes a GPU the thread's; at its end the one that was chosen before comes back.
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
