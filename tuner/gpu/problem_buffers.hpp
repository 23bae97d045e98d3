// SPDX-License-Identifier: Apache-2.0
// Private to this folder: the buffers of one problem in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/device_kernels.hpp"
#include "tuner/measure/inputs.hpp"
#include "tuner/measure/verification.hpp"

namespace autotune {

inline constexpr std::array kInputSets{InputSet::integers, InputSet::uniform};
inline std::size_t index_of(InputSet set) { return static_cast<std::size_t>(set); }

/// Device memory of exactly `bytes` between two red zones, then `slack` bytes.
class ZonedBuffer {
 public:
  ZonedBuffer() = default;
  ZonedBuffer(cudaStream_t stream, std::int64_t bytes, std::int64_t slack = 0);

  std::byte* start() const { return memory_.get() + kRedZoneBytes; }
  std::int64_t bytes() const { return bytes_; }
  void reset_zones(cudaStream_t stream) const;
  /// Outcome::wrong if bytes of a zone were written. Synchronizes.
  Verdict check_zones(const BufferSpec& spec) const;

 private:
  DeviceMemory memory_;
  std::int64_t bytes_ = 0;
};

/// Between the host and the device, or within one; does not wait for the device.
void copy(cudaStream_t stream, void* to, const void* from, std::int64_t bytes);

/// A copy on the host. No stream may be writing.
std::vector<std::byte> downloaded(const std::byte* from, std::int64_t bytes);

/// As poison() of tuner/measure.
void poison(cudaStream_t stream, const BufferSpec& spec, std::byte* to);

/// Fills a workspace with zeros or poison, as before every run.
void fill_workspace(cudaStream_t stream, const BufferSpec& spec, const ZonedBuffer& buffer);

/// The buffers of a problem: inputs once for each input set, outputs and inouts once. `kernels`
/// must outlive it. Throws Error if memory is short.
class ProblemBuffers {
 public:
  ProblemBuffers(cudaStream_t stream, const DeviceInfo& device, const Workload& workload,
                 const DeviceKernels& kernels);

  const std::vector<BufferSpec>& specs() const { return specs_; }
  /// The buffers' addresses for an input set, in the workload's order.
  std::vector<std::byte*> addresses(InputSet set) const;
  const ZonedBuffer& buffer(std::size_t index, InputSet set) const;

  /// Poisons outputs and fills inouts with the set's content.
  void reset(cudaStream_t stream, InputSet set) const;
  /// Fills an input or inout with its original content, or with absolute values of it.
  void refill(cudaStream_t stream, std::size_t index, InputSet set, bool absolute = false) const;
  /// Makes the current contents of prepared inputs their original contents.
  void keep_prepared(cudaStream_t stream);
  /// Sum of DeviceKernels::hash() over an input as filled.
  std::uint64_t hash(std::size_t index, InputSet set) const;
  const PreparedInputs& prepared() const { return prepared_; }

  /// Buffer sets (with the uniform inputs) for timing with a cold L2: twice the size of L2 passes
  /// between two uses of a set. Made by the first call. If memory is short, there is one set and
  /// `cold` is false.
  struct Rotation {
    int copies = 1;
    bool cold = false;
  };
  Rotation rotation(cudaStream_t stream);
  std::vector<std::byte*> copy_addresses(int copy) const;

 private:
  struct Slot {
    std::array<ZonedBuffer, kInputSets.size()> buffers;    // inputs: one per set; others: the first
    std::array<DeviceMemory, kInputSets.size()> pristine;  // initial content of inouts
    std::array<std::uint64_t, kInputSets.size()> hashes{};
  };
  void check_memory(const Workload& workload) const;
  void fill_slots(cudaStream_t stream);
  void note_hash(cudaStream_t stream, std::size_t index, InputSet set);
  void refill_prepared(cudaStream_t stream, std::size_t index, InputSet set, bool absolute) const;
  std::byte* contents(std::size_t index, InputSet set) const;

  const DeviceInfo& device_;
  const DeviceKernels& kernels_;
  std::uint64_t seed_;
  std::vector<BufferSpec> specs_;
  std::vector<Slot> slots_;
  DeviceMemory hash_{sizeof(std::uint64_t)};
  PreparedInputs prepared_;  // on the host
  std::int64_t copy_bytes_ = 0;
  Rotation rotation_;
  bool rotation_made_ = false;
  DeviceMemory copies_;  // all but the first
};

}  // namespace autotune
