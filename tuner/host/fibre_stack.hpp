// SPDX-License-Identifier: Apache-2.0
// The stack of a fibre, with a guard page below it.
#pragma once

#include <cstddef>

namespace autotune {

class FibreStack {
 public:
  /// Room for local arrays of a kernel. Untouched pages cost nothing.
  static constexpr std::size_t kBytes = 256 << 10;

  /// Throws Error if there is no memory.
  FibreStack();
  ~FibreStack();
  FibreStack(const FibreStack&) = delete;
  FibreStack& operator=(const FibreStack&) = delete;

  /// The upper end; stacks grow down.
  void* top() const { return static_cast<std::byte*>(bottom_) + kBytes; }

  /// Call this before abandoning functions on the stack. Otherwise AddressSanitizer keeps the red
  /// zones of their variables, and reports the next function that uses these addresses.
  void forget_frames();

 private:
  void* bottom_;
};

}  // namespace autotune
