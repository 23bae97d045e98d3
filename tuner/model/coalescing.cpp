// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/coalescing.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace autotune {
namespace {

constexpr std::int64_t kLine = 128;
constexpr std::int64_t kSector = 32;
/// Blocks whose first byte lies at each place of a line.
using Alignments = std::array<std::int64_t, kLine>;

std::int64_t positive_modulo(std::int64_t value, std::int64_t modulus) {
  return (value % modulus + modulus) % modulus;
}

/// Adds a dimension: `count` blocks, each `stride` bytes on from the last. Residues repeat after
/// at most a line's bytes.
Alignments spread(const Alignments& before, std::int64_t count, std::int64_t stride) {
  Alignments after{};
  const std::int64_t period = std::min(count, kLine);
  for (std::int64_t i = 0; i < period; ++i) {
    const std::int64_t times = count / period + (i < count % period ? 1 : 0);
    for (std::int64_t at = 0; at < kLine; ++at) {
      if (before[static_cast<std::size_t>(at)] == 0) continue;
      const std::int64_t to = positive_modulo(at + i * stride, kLine);
      after[static_cast<std::size_t>(to)] += times * before[static_cast<std::size_t>(at)];
    }
  }
  return after;
}

Alignments alignments_of(const MemoryAccess& access, const Dim3& grid) {
  const Dim3& step = access.index.per_block;
  Alignments all{};
  all[static_cast<std::size_t>(positive_modulo(access.index.offset * access.bytes, kLine))] = 1;
  all = spread(all, grid.x, step.x * access.bytes);
  all = spread(all, grid.y, step.y * access.bytes);
  return spread(all, grid.z, step.z * access.bytes);
}

/// Byte offsets of the threads of a block, in the order of their warps.
std::vector<std::int64_t> offsets_of(const MemoryAccess& access, const Dim3& block) {
  std::vector<std::int64_t> offsets;
  const Dim3& step = access.index.per_thread;
  for (std::int64_t z = 0; z < block.z; ++z) {
    for (std::int64_t y = 0; y < block.y; ++y) {
      for (std::int64_t x = 0; x < block.x; ++x) {
        offsets.push_back((x * step.x + y * step.y + z * step.z) * access.bytes);
      }
    }
  }
  return offsets;
}

/// The distinct pieces of `unit` bytes that accesses of `bytes` touch, ascending.
std::vector<std::int64_t> pieces(std::span<const std::int64_t> starts, int bytes,
                                 std::int64_t unit) {
  std::vector<std::int64_t> touched;
  for (const std::int64_t start : starts) {
    for (std::int64_t at = start / unit; at <= (start + bytes - 1) / unit; ++at) {
      touched.push_back(at);
    }
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  return touched;
}

void add_request(GlobalTraffic& traffic, const Multiprocessor& sm, const MemoryAccess& access,
                 std::span<const std::int64_t> starts, std::int64_t times) {
  const auto lines = static_cast<std::int64_t>(pieces(starts, access.access_bytes(), kLine).size());
  const auto sectors =
      static_cast<std::int64_t>(pieces(starts, access.access_bytes(), kSector).size());
  const bool whole_lines = !access.store && sm.load_transaction_bytes == kLine;
  traffic.requests += times;
  traffic.bytes_asked += times * static_cast<std::int64_t>(starts.size()) * access.access_bytes();
  traffic.transactions += times * (sm.load_transaction_bytes == kLine ? lines : sectors);
  traffic.bytes_moved += times * (whole_lines ? lines * kLine : sectors * kSector);
}

/// Passes of one phase: the most distinct words that fall into one bank.
std::int64_t passes(std::span<const std::int64_t> starts, int bytes, int banks) {
  std::vector<std::int64_t> in_bank(static_cast<std::size_t>(banks));
  for (const std::int64_t word : pieces(starts, bytes, 4)) {
    ++in_bank[static_cast<std::size_t>(positive_modulo(word, banks))];
  }
  return *std::max_element(in_bank.begin(), in_bank.end());
}

}  // namespace

GlobalTraffic global_traffic(const Multiprocessor& sm, const MemoryAccess& access, const Dim3& grid,
                             const Dim3& block) {
  const std::size_t group = sm.compute_capability < 20 ? kWarp / 2 : kWarp;
  const std::vector<std::int64_t> offsets = offsets_of(access, block);
  const Alignments alignments = alignments_of(access, grid);
  // Far enough up that no offset is negative.
  const std::int64_t lowest = *std::min_element(offsets.begin(), offsets.end());
  const std::int64_t lift = lowest < 0 ? (-lowest / kLine + 1) * kLine : 0;

  GlobalTraffic traffic;
  std::vector<std::int64_t> starts;
  for (std::int64_t at = 0; at < kLine; ++at) {
    const std::int64_t times = alignments[static_cast<std::size_t>(at)];
    if (times == 0) continue;
    for (std::size_t first = 0; first < offsets.size(); first += group) {
      const std::size_t last = std::min(first + group, offsets.size());
      starts.assign(offsets.begin() + static_cast<std::ptrdiff_t>(first),
                    offsets.begin() + static_cast<std::ptrdiff_t>(last));
      for (std::int64_t& start : starts) start += at + lift;
      add_request(traffic, sm, access, starts, times);
    }
  }
  return traffic;
}

SharedTraffic shared_traffic(const Multiprocessor& sm, const MemoryAccess& access,
                             const Dim3& block) {
  std::vector<std::int64_t> offsets = offsets_of(access, block);
  const std::int64_t lowest = *std::min_element(offsets.begin(), offsets.end());
  for (std::int64_t& offset : offsets) {
    offset += access.index.offset * access.bytes - std::min<std::int64_t>(lowest, 0);
  }
  // Wider accesses take a warp in phases: half of it for 8 bytes, a quarter for 16.
  const std::size_t warp = std::min(kWarp, sm.shared_banks);
  const std::size_t phase = warp * 4 / static_cast<std::size_t>(std::max(access.access_bytes(), 4));
  SharedTraffic traffic;
  for (std::size_t first = 0; first < offsets.size(); first += phase) {
    const std::size_t count = std::min(phase, offsets.size() - first);
    traffic.wavefronts +=
        passes(std::span(offsets).subspan(first, count), access.access_bytes(), sm.shared_banks);
    ++traffic.ideal;
    if (first % warp == 0) ++traffic.requests;
  }
  return traffic;
}

}  // namespace autotune
