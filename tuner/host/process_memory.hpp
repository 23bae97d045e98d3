// SPDX-License-Identifier: Apache-2.0
// Verification's view of the memory of this process, in which kernels run on the host.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tuner/host/bound_plan.hpp"
#include "tuner/host/launcher.hpp"
#include "tuner/measure/memory.hpp"
#include "tuner/measure/problem_buffers.hpp"

namespace autotune {

/// Everything is done at once, on all threads. Pages that cannot be accessed surround each
/// allocation: a write beyond the red zones ends the process. What is sealed lies in a file without
/// a name, which is mapped only while it is compared: a kernel that searches or overwrites the
/// memory of its process does not find it.
class ProcessMemory : public Memory {
 public:
  /// `threads` must outlive it.
  explicit ProcessMemory(ThreadPool& threads) : threads_(threads) {}

  std::shared_ptr<std::byte> allocate(std::int64_t bytes) override;
  void set(std::byte* to, std::byte value, std::int64_t bytes) override;
  void set_columns(std::byte* to, std::byte value, std::int64_t width, std::int64_t pitch,
                   std::int64_t rows) override;
  void copy(std::byte* to, const std::byte* from, std::int64_t bytes) override;
  void write(std::byte* to, std::span<const std::byte> from) override;
  std::vector<std::byte> read(const std::byte* from, std::int64_t bytes) override;
  void draw(std::byte* to, ElementType type, const ElementRule& rule, std::int64_t count) override;
  void scatter(std::byte* to, const std::byte* from, const std::int64_t* positions,
               std::int64_t count, std::int64_t element_bytes) override;
  Sealed seal(std::byte* from, std::int64_t bytes) override;
  std::vector<std::byte> unsealed(const Sealed& sealed, std::int64_t offset,
                                  std::int64_t bytes) override;
  void compare(const BufferSpec& buffer, const std::byte* got, const SealedAnswer& right,
               Finding* to) override;
  void compare_bits(const BufferSpec& buffer, const std::byte* one, const std::byte* other,
                    Finding* to) override;
  void count_other(const std::byte* start, std::int64_t bytes, std::byte value,
                   std::uint64_t* to) override;
  void hash(const std::byte* start, std::int64_t bytes, std::uint64_t* to) override;
  void count_inexact(ElementType type, const std::byte* values, std::int64_t count, double limit,
                     std::uint64_t* to) override;
  void finish() override {}
  void forget_branches() override;

 private:
  ThreadPool& threads_;
};

/// The bytes of buffers, as HostPlan wants them.
std::vector<HostMemory> memory_of(std::span<const ZonedBuffer> buffers);

/// Flushes a buffer from all CPU caches.
void evict(const ZonedBuffer& buffer);

}  // namespace autotune
