// SPDX-License-Identifier: Apache-2.0
// As device/mma.cuh: the lanes of a warp exchange what its instructions exchange.
#pragma once

#include "device/shared_memory.cuh"
#include "lines.cuh"

template <bool transposed>
inline void load_tiles(unsigned (&tiles)[4], const void* row) {
  const unsigned lane = autotune_host::thread() % 32, first = autotune_host::thread() - lane;
  autotune_host::exchange(
      reinterpret_cast<unsigned long long>(row), [] { autotune_host::wait_warp(~0u); },
      [&](const unsigned long long* rows) {
        const auto element = [&](int tile, unsigned y, unsigned x) -> unsigned {
          return reinterpret_cast<const unsigned short*>(rows[first + 8 * tile + y])[x];
        };
        const unsigned y = lane / 4, x = lane % 4 * 2;
        for (int i = 0; i < 4; ++i) {
          tiles[i] = transposed ? element(i, x, y) | element(i, x + 1, y) << 16
                                : element(i, y, x) | element(i, y, x + 1) << 16;
        }
        return 0;
      });
}

template <bool transposed>
inline void store_tiles(SharedAddress row, const unsigned (&tiles)[4]) {
  const unsigned lane = autotune_host::thread() % 32, first = autotune_host::thread() - lane;
  autotune_host::exchange(
      row, [] { autotune_host::wait_warp(~0u); },
      [&](const unsigned long long* rows) {
        for (int i = 0; i < 8; ++i) {
          const unsigned y = lane / 4, x = lane % 4 * 2 + i % 2;
          auto* const to =
              reinterpret_cast<unsigned short*>(rows[first + i / 2 * 8 + (transposed ? x : y)]);
          to[transposed ? y : x] = static_cast<unsigned short>(tiles[i / 2] >> i % 2 * 16);
        }
        return 0;
      });
}

template <Factor kFactor>
inline void multiply_tiles(SumOf<kFactor> (&sums)[4], const unsigned (&a)[4], unsigned b0,
                           unsigned b1) {
  const unsigned lane = autotune_host::thread() % 32, warp = autotune_host::thread() - lane;
  unsigned rows[2][8], columns[2][8];
  exchange_rows(rows, a);
  autotune_host::exchange(
      b0 | (unsigned long long)b1 << 32, [] { autotune_host::wait_warp(~0u); },
      [&](const unsigned long long* all) {
        for (unsigned i = 0; i < 2; ++i) read_line(columns[i], all + warp + lane % 4 * 8 + 4 * i);
        return 0;
      });
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 32 / bytes_of(kFactor); ++k) {
      sums[i] += factor_at<kFactor>(rows[i / 2], k) * factor_at<kFactor>(columns[i % 2], k);
    }
  }
}
