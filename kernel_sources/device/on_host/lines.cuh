// SPDX-License-Identifier: Apache-2.0
// Lanes exchange what they hold of matrices, as mma.sync and wgmma do. Four
// neighbouring lanes hold a line of 32 bytes along k: each four bytes of the first half, and of the
// second.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "device/factor.cuh"

/// Element k of a line in memory.
template <Factor kFactor>
inline SumOf<kFactor> factor_at(const unsigned* line, int k) {
  const unsigned word = line[k * bytes_of(kFactor) / 4];
  const auto low = static_cast<unsigned short>(word >> k % 2 * 16);
  if constexpr (kFactor == Factor::s8) return static_cast<signed char>(word >> k % 4 * 8);
  if constexpr (kFactor == Factor::bf16) return __ushort_as_bfloat16(low);
  if constexpr (kFactor == Factor::f16) return __ushort_as_half(low);
  return __uint_as_float(word & ~0x1FFFu);
}

/// The line of four lanes, from their words: the first half of a line is in the lower halves.
inline void read_line(unsigned (&line)[8], const unsigned long long* words) {
  for (unsigned i = 0; i < 4; ++i) {
    line[i] = static_cast<unsigned>(words[i]);
    line[4 + i] = static_cast<unsigned>(words[i] >> 32);
  }
}

/// Rows lane / 4 and lane / 4 + 8 of 16, of which every lane of the warp holds four words: upper
/// left, lower left, upper right, lower right.
inline void exchange_rows(unsigned (&rows)[2][8], const unsigned (&words)[4]) {
  const unsigned lane = autotune_host::thread() % 32, warp = autotune_host::thread() - lane;
  for (int i = 0; i < 2; ++i) {
    autotune_host::exchange(
        words[i] | (unsigned long long)words[i + 2] << 32, [] { autotune_host::wait_warp(~0u); },
        [&](const unsigned long long* all) {
          read_line(rows[i], all + warp + lane / 4 * 4);
          return 0;
        });
  }
}
