// SPDX-License-Identifier: Apache-2.0
// Private to this folder: verification's view of a GPU's memory, through kernels of the tuner's
// own.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>
#include <vector>

#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/device_kernels.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/measure/memory.hpp"

namespace autotune {

/// Everything is enqueued on one stream. What it seals stays in device memory.
class CudaMemory : public Memory {
 public:
  /// `kernels` and the stream must outlive it.
  CudaMemory(cudaStream_t stream, const DeviceKernels& kernels);

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
  void finish() override;

 private:
  /// Where a kernel leaves what is added to `to` at the end.
  Finding* slot_of(Finding* to);
  std::uint64_t* slot_of(std::uint64_t* to);
  /// The first of each kind.
  void clear_slots(std::size_t findings, std::size_t counts);

  cudaStream_t stream_;
  const DeviceKernels& kernels_;
  DeviceMemory findings_, counts_;
  std::vector<Finding*> findings_to_;
  std::vector<std::uint64_t*> counts_to_;
};

/// A call on the stream of a GPU.
class CudaCall : public Call {
 public:
  CudaCall(cudaStream_t stream, std::unique_ptr<BoundWork> work)
      : stream_(stream), work_(std::move(work)) {}

  void start() override { work_->launch(stream_, EarlyStart::everywhere); }
  void start_checks() override { work_->check(stream_); }
  double run() override;
  const BoundWork& work() const { return *work_; }

 private:
  cudaStream_t stream_;
  std::unique_ptr<BoundWork> work_;
  Event begin_ = make_event(), end_ = make_event();
};

}  // namespace autotune
