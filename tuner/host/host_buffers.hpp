// SPDX-License-Identifier: Apache-2.0
// Arrays of a problem in the host's memory, with red zones.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tuner/core/launch.hpp"
#include "tuner/measure/verification.hpp"

namespace autotune {

class HostBuffer {
 public:
  /// Throws Error when there is no memory.
  explicit HostBuffer(BufferSpec spec);

  const BufferSpec& spec() const { return spec_; }
  std::span<std::byte> bytes() { return {start(), static_cast<std::size_t>(spec_.bytes())}; }
  void* data() { return start(); }

  /// Puts it out of all caches.
  void evict();

  void paint_red_zones();
  /// Wrong when something beside the buffer was written.
  Verdict check_red_zones();

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::byte* start() { return memory_.get() + kRedZoneBytes; }

  BufferSpec spec_;
  std::unique_ptr<std::byte[], Free> memory_;
};

/// The buffers of a workload, filled from one input set.
class HostBuffers {
 public:
  HostBuffers(std::span<const BufferSpec> specs, InputSet set, std::uint64_t seed);

  InputSet set() const { return set_; }
  std::span<HostBuffer> all() { return buffers_; }

  /// Poisons outputs and puts inouts back to their fill.
  void prepare();
  /// Whether red zones and inputs are as they were; afterwards they are, for the next candidate.
  Verdict check_untouched();

 private:
  void restore();

  InputSet set_;
  std::uint64_t seed_;
  std::vector<HostBuffer> buffers_;
};

/// Elements as double.
std::vector<double> values_of(HostBuffer& buffer);

}  // namespace autotune
