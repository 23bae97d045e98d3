// SPDX-License-Identifier: Apache-2.0
// The memory of a device, as verification needs it: fill, poison, compare, read. Each device that
// runs kernels implements it once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tuner/core/launch.hpp"
#include "tuner/measure/elements.hpp"

namespace autotune {

/// Bytes that a kernel under test does not find: see Memory::seal(). Null for none.
using Sealed = std::shared_ptr<const void>;

/// The reference result of one output, sealed.
struct SealedAnswer {
  std::size_t buffer = 0;               // the output's index in the workload
  ElementType type = ElementType::f64;  // the output's own, or f64 for floating types
  Sealed values;
  Sealed magnitudes;   // null: the values
  bool exact = false;  // must be equal
};

/// Addresses are the device's. Work is done in order with calls of kernels. It may be done later
/// than its function returns, but before finish() returns: results are there from then on. Throws
/// Error if memory is short, KernelFailure if a kernel that ran before has failed.
class Memory {
 public:
  virtual ~Memory() = default;

  /// Freed with the last pointer to it. Aligned to 256 bytes at least. On the host, pages that
  /// cannot be accessed surround it.
  virtual std::shared_ptr<std::byte> allocate(std::int64_t bytes) = 0;
  virtual void set(std::byte* to, std::byte value, std::int64_t bytes) = 0;
  /// The same in `rows` rows of `width` bytes that start `pitch` bytes apart.
  virtual void set_columns(std::byte* to, std::byte value, std::int64_t width, std::int64_t pitch,
                           std::int64_t rows) = 0;
  virtual void copy(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;
  /// Copies from the program's memory, which may go when this returns.
  virtual void write(std::byte* to, std::span<const std::byte> from) = 0;
  /// Waits.
  virtual std::vector<std::byte> read(const std::byte* from, std::int64_t bytes) = 0;
  /// As fill_elements() from element 0 on.
  virtual void draw(std::byte* to, ElementType type, const ElementRule& rule,
                    std::int64_t count) = 0;
  /// Writes `count` elements of `element_bytes` bytes from `from` to the elements of `to` at
  /// `positions`, all of which lie in the device's memory. On a GPU, the next kernel of the stream
  /// may start early, and these elements are written late: a kernel that starts early and does not
  /// wait reads what was there before.
  virtual void scatter(std::byte* to, const std::byte* from, const std::int64_t* positions,
                       std::int64_t count, std::int64_t element_bytes) = 0;

  /// Puts bytes where a kernel does not find them, and wipes `from`. Waits.
  virtual Sealed seal(std::byte* from, std::int64_t bytes) = 0;
  virtual std::vector<std::byte> unsealed(const Sealed& sealed, std::int64_t offset,
                                          std::int64_t bytes) = 0;

  // Each adds to what `to` points to by the time that finish() returns.
  /// As compare_elements(), for a buffer without members.
  virtual void compare(const BufferSpec& buffer, const std::byte* got, const SealedAnswer& right,
                       Finding* to) = 0;
  /// As compare_bits().
  virtual void compare_bits(const BufferSpec& buffer, const std::byte* one, const std::byte* other,
                            Finding* to) = 0;
  /// The number of bytes that are not `value`.
  virtual void count_other(const std::byte* start, std::int64_t bytes, std::byte value,
                           std::uint64_t* to) = 0;
  /// A hash of the bytes.
  virtual void hash(const std::byte* start, std::int64_t bytes, std::uint64_t* to) = 0;
  /// The number of elements of a floating type that are no integers below `limit` in magnitude.
  virtual void count_inexact(ElementType type, const std::byte* values, std::int64_t count,
                             double limit, std::uint64_t* to) = 0;
  virtual void finish() = 0;

  /// Makes processors forget what they predict of branches, which they learn from contents that
  /// they have seen. GPUs predict none.
  virtual void forget_branches() {}
};

/// One call, bound to the addresses of its buffers.
class Call {
 public:
  virtual ~Call() = default;
  /// Starts it, early if the plan allows it. Throws KernelFailure.
  virtual void start() = 0;
  /// Starts the launches that follow a verified call.
  virtual void start_checks() {}
  /// Runs it to its end. Returns its seconds. Throws KernelFailure.
  virtual double run() = 0;
};

}  // namespace autotune
