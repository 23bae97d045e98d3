// SPDX-License-Identifier: Apache-2.0
// The stack of a fibre, with a page below it that faults.
#pragma once

#include <cstddef>

namespace autotune {

class FibreStack {
 public:
  /// Room for the local arrays of a kernel; pages that are not touched cost nothing.
  static constexpr std::size_t kBytes = 256 << 10;

  /// Throws Error when there is no memory.
  FibreStack();
  ~FibreStack();
  FibreStack(const FibreStack&) = delete;
  FibreStack& operator=(const FibreStack&) = delete;

  /// Stacks grow down from here.
  void* top() const { return static_cast<std::byte*>(bottom_) + kBytes; }

  /// To be called where functions on it never return. AddressSanitizer keeps the marks round their
  /// variables otherwise, and takes them for faults of whatever uses these addresses next.
  void forget_frames();

 private:
  void* bottom_;
};

}  // namespace autotune
