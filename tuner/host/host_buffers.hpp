// SPDX-License-Identifier: Apache-2.0
// Buffers of a problem in host memory, with red zones.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tuner/core/launch.hpp"
#include "tuner/host/bound_plan.hpp"
#include "tuner/host/thread_pool.hpp"
#include "tuner/measure/inputs.hpp"
#include "tuner/measure/verification.hpp"

namespace autotune {

class HostBuffer {
 public:
  /// `slack` bytes behind the red zone are not checked. Throws Error if there is no memory.
  explicit HostBuffer(BufferSpec spec, std::int64_t slack = 0);

  const BufferSpec& spec() const { return spec_; }
  std::span<std::byte> bytes() { return {start(), size()}; }
  std::span<const std::byte> bytes() const { return {start(), size()}; }
  void* data() { return start(); }

  /// Fills it like fill() of tuner/measure, or copies `prepared` if there is any. Throws Error.
  void fill(ThreadPool& threads, InputSet set, std::uint64_t seed, bool absolute = false,
            std::span<const std::byte> prepared = {});
  void poison(ThreadPool& threads);
  /// Fills a workspace. Call before every run.
  void clear(ThreadPool& threads) { set_bytes(threads, workspace_byte(spec_)); }

  /// One hash for each piece of the buffer, to detect changes later.
  std::vector<std::uint64_t> hashes(ThreadPool& threads) const;

  /// Flushes the buffer from all CPU caches.
  void evict();

  void paint_red_zones();
  /// Outcome::wrong if bytes outside the buffer were written.
  Verdict check_red_zones() const;

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::byte* start() const { return memory_.get() + kRedZoneBytes; }
  std::size_t size() const { return static_cast<std::size_t>(spec_.bytes()); }
  void set_bytes(ThreadPool& threads, std::byte value);

  BufferSpec spec_;
  std::unique_ptr<std::byte[], Free> memory_;
};

/// The addresses of `buffers`, then of `workspace`.
std::vector<HostMemory> memory_of(std::span<HostBuffer> buffers, std::span<HostBuffer> workspace);

/// The buffers of a workload, filled from one input set.
class HostBuffers {
 public:
  /// `prepared` and `threads` must outlive it. Throws Error.
  HostBuffers(std::span<const BufferSpec> specs, InputSet set, std::uint64_t seed,
              const PreparedInputs& prepared, ThreadPool& threads);

  std::span<HostBuffer> all() { return buffers_; }

  /// Poisons outputs and restores inouts to their fill.
  void prepare();
  /// Outcome::wrong if red zones or inputs changed. Restores them for the next candidate.
  Verdict check_untouched();

 private:
  void fill(std::size_t index);
  Verdict check_inputs();
  void restore();

  InputSet set_;
  std::uint64_t seed_;
  const PreparedInputs& prepared_;
  ThreadPool& threads_;
  std::vector<HostBuffer> buffers_;
  std::vector<std::vector<std::uint64_t>> hashes_;  // of inputs as filled; empty for others
};

}  // namespace autotune
