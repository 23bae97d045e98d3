// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/multiprocessor.hpp"

#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr int kKiB = 1024;

// Possible sizes of shared memory in KiB, if it shares its storage with L1.
constexpr int kFermi[] = {16, 48};
constexpr int kKepler[] = {16, 32, 48};
constexpr int kKepler37[] = {80, 96, 112};
constexpr int kVolta[] = {0, 8, 16, 32, 64, 96};
constexpr int kTuring[] = {32, 64};
constexpr int kAmpere[] = {0, 8, 16, 32, 64, 100, 132, 164};
constexpr int kAmpere100[] = {0, 8, 16, 32, 64, 100};
constexpr int kHopper[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

Multiprocessor tesla(int capability, int warps, int registers, int register_unit) {
  Multiprocessor sm;
  sm.compute_capability = capability;
  sm.threads = warps * 32;
  sm.warps = warps;
  sm.blocks = 8;
  sm.max_threads_per_block = 512;
  sm.registers = sm.registers_per_block = registers;
  sm.registers_per_thread = 124;
  sm.register_unit = register_unit;
  sm.registers_by_block = true;
  sm.warp_unit = 2;
  sm.shared_bytes = sm.shared_bytes_per_block = 16 * kKiB;
  sm.shared_unit = 512;
  sm.schedulers = 1;
  sm.fma_lanes = 8;
  sm.shared_bytes_per_cycle = 32;
  sm.l2_bytes_per_cycle = 16;
  sm.load_transaction_bytes = 128;
  sm.shared_banks = 16;
  return sm;
}

Multiprocessor fermi(int capability, int lanes) {
  Multiprocessor sm;
  sm.compute_capability = capability;
  sm.threads = 1536;
  sm.warps = 48;
  sm.blocks = 8;
  sm.registers = sm.registers_per_block = 32768;
  sm.registers_per_thread = 63;
  sm.register_unit = 64;
  sm.warp_unit = 2;
  sm.shared_bytes = sm.shared_bytes_per_block = 48 * kKiB;
  sm.shared_unit = 128;
  sm.shared_sizes = kFermi;
  sm.schedulers = 2;
  sm.fma_lanes = lanes;
  sm.shared_bytes_per_cycle = 64;
  sm.l2_bytes_per_cycle = 32;
  sm.load_transaction_bytes = 128;
  return sm;
}

Multiprocessor kepler(int capability, int registers_per_thread) {
  Multiprocessor sm;
  sm.compute_capability = capability;
  sm.threads = 2048;
  sm.warps = 64;
  sm.blocks = 16;
  sm.registers_per_thread = registers_per_thread;
  sm.partitions = 4;
  sm.shared_bytes = sm.shared_bytes_per_block = 48 * kKiB;
  sm.shared_sizes = kKepler;
  sm.fma_lanes = 192;
  sm.shared_bytes_per_cycle = 256;
  sm.load_transaction_bytes = 128;
  return sm;
}

Multiprocessor kepler37() {
  Multiprocessor sm = kepler(37, 255);
  sm.registers = 131072;
  sm.shared_bytes = 112 * kKiB;
  sm.shared_sizes = kKepler37;
  return sm;
}

Multiprocessor maxwell(int capability, int shared_kib) {
  Multiprocessor sm;
  sm.compute_capability = capability;
  sm.threads = 2048;
  sm.warps = 64;
  sm.blocks = 32;
  sm.partitions = 4;
  sm.shared_bytes = shared_kib * kKiB;
  sm.shared_bytes_per_block = 48 * kKiB;
  return sm;
}

/// 5.3 and 6.2, the embedded ones: half the registers for one block.
Multiprocessor embedded(int capability) {
  Multiprocessor sm = maxwell(capability, 64);
  sm.registers_per_block = 32768;
  return sm;
}

Multiprocessor pascal100() {
  Multiprocessor sm = maxwell(60, 64);
  sm.warp_unit = 2;
  sm.partitions = 2;
  sm.schedulers = 2;
  sm.fma_lanes = 64;
  return sm;
}

Multiprocessor volta(int capability) {
  Multiprocessor sm = maxwell(capability, 96);
  sm.shared_bytes_per_block = 96 * kKiB;
  sm.shared_sizes = kVolta;
  sm.fma_lanes = 64;
  sm.tensor_lanes = 512;
  return sm;
}

Multiprocessor turing() {
  Multiprocessor sm = volta(75);
  sm.threads = 1024;
  sm.warps = 32;
  sm.blocks = 16;
  sm.shared_bytes = sm.shared_bytes_per_block = 64 * kKiB;
  sm.shared_sizes = kTuring;
  return sm;
}

/// 8.0 and later: 128-byte units and 1 KiB a block for the driver.
Multiprocessor ampere(int capability, int threads, int blocks, std::span<const int> sizes) {
  Multiprocessor sm;
  sm.compute_capability = capability;
  sm.threads = threads;
  sm.warps = threads / 32;
  sm.blocks = blocks;
  sm.partitions = 4;
  sm.shared_bytes = sizes.back() * kKiB;
  sm.shared_bytes_per_block = (sizes.back() - 1) * kKiB;
  sm.shared_unit = 128;
  sm.reserved_shared_bytes = kKiB;
  sm.shared_sizes = sizes;
  sm.fma_lanes = capability == 80 ? 64 : 128;
  sm.tensor_lanes = capability == 80 ? 1024 : 512;
  return sm;
}

/// 9.0 and later: clusters, and named barriers as a resource of the multiprocessor.
Multiprocessor hopper(int capability, int threads, int blocks, std::span<const int> sizes,
                      int barriers) {
  Multiprocessor sm = ampere(capability, threads, blocks, sizes);
  sm.barriers = barriers;
  sm.max_cluster = capability < 120 ? 16 : 8;
  sm.tensor_lanes = capability == 90 ? 2048 : capability < 120 ? 4096 : 512;
  return sm;
}

std::vector<Multiprocessor> table() {
  return {
      tesla(10, 24, 8192, 256),
      tesla(11, 24, 8192, 256),
      tesla(12, 32, 16384, 512),
      tesla(13, 32, 16384, 512),
      fermi(20, 32),
      fermi(21, 48),
      kepler(30, 63),
      kepler(32, 255),
      kepler(35, 255),
      kepler37(),
      maxwell(50, 64),
      maxwell(52, 96),
      embedded(53),
      pascal100(),
      maxwell(61, 96),
      embedded(62),
      volta(70),
      volta(72),
      turing(),
      ampere(80, 2048, 32, kAmpere),
      ampere(86, 1536, 16, kAmpere100),
      ampere(87, 1536, 16, kAmpere),
      ampere(89, 1536, 24, kAmpere100),
      hopper(90, 2048, 32, kHopper, 64),
      hopper(100, 2048, 32, kHopper, 64),
      hopper(101, 1536, 24, kHopper, 24),
      hopper(103, 2048, 32, kHopper, 64),
      hopper(110, 1536, 24, kHopper, 24),
      hopper(120, 1536, 24, kAmpere100, 24),
      hopper(121, 1536, 24, kAmpere100, 24),
  };
}

}  // namespace

std::span<const Multiprocessor> multiprocessors() {
  static const std::vector<Multiprocessor> rows = table();
  return rows;
}

const Multiprocessor& multiprocessor(int compute_capability) {
  const Multiprocessor* nearest = nullptr;
  for (const Multiprocessor& row : multiprocessors()) {
    if (row.compute_capability <= compute_capability) nearest = &row;
  }
  const bool exact = nearest && nearest->compute_capability == compute_capability;
  if (exact || (nearest && compute_capability > 75)) return *nearest;
  throw UsageError(format("compute capability {}.{} is not known: the table has 1.0 to 12.1",
                          compute_capability / 10, compute_capability % 10));
}

}  // namespace autotune
