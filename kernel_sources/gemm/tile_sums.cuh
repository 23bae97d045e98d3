// SPDX-License-Identifier: Apache-2.0
// A thread's sums of a warpgroup's tile, 64 x kColumns as wgmma sees it: their places in D, how
// they are stored, and how they are made on CUDA cores.
#pragma once

#include "problem.cuh"

/// kSwapped: rows of the tile are columns of D. Config has the problem's constants and kVectorD.
template <class Config, int kColumns, bool kSwapped>
struct TileSums {
  static constexpr int kSums = kColumns / 2;

  const Problem& p;
  int row, column;  // of the thread's first sum

  /// From the first row and column of the warpgroup's tile.
  __device__ __forceinline__ TileSums(const Problem& p, int tile_row, int tile_column) : p(p) {
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    row = tile_row + warp * 16 + lane / 4;
    column = tile_column + lane % 4 * 2;
  }

  // Past an edge the last row or column is read again; its sums are never written.
  __device__ __forceinline__ float row_at(int row, int k) const {
    return kSwapped ? b_at<Config>(p, k, min(row, p.N - 1)) : a_at<Config>(p, min(row, p.M - 1), k);
  }
  __device__ __forceinline__ float column_at(int column, int k) const {
    return kSwapped ? a_at<Config>(p, min(column, p.M - 1), k)
                    : b_at<Config>(p, k, min(column, p.N - 1));
  }

  /// The sums over k from `begin` to `end`.
  __device__ __forceinline__ void sum_on_cores(int begin, int end, float (&totals)[kSums]) const {
#pragma unroll
    for (int i = 0; i < kSums; ++i) totals[i] = 0;
#pragma unroll 1
    for (int k = begin; k < end; ++k) {
      const float upper = row_at(row, k), lower = row_at(row + 8, k);
#pragma unroll
      for (int i = 0; i < kSums; i += 4) {
        const float left = column_at(column + i * 2, k), right = column_at(column + i * 2 + 1, k);
        totals[i] += upper * left;
        totals[i + 1] += upper * right;
        totals[i + 2] += lower * left;
        totals[i + 3] += lower * right;
      }
    }
  }

  __device__ __forceinline__ void store_pair(int m, int n, float first, float second) const {
    if (m >= p.M || n >= p.N) return;
    const long long c_at = (long long)m * p.ldc + n;
    const float finished_first = finished<Config>(first, p.alpha, p.beta, p.C, c_at);
    float* const to = p.D + (long long)m * p.ldd + n;
    if constexpr (Config::kVectorD == 2) {
      const float finished_second = finished<Config>(second, p.alpha, p.beta, p.C, c_at + 1);
      *reinterpret_cast<float2*>(to) = make_float2(finished_first, finished_second);
    } else {
      *to = finished_first;
      if (n + 1 < p.N) to[1] = finished<Config>(second, p.alpha, p.beta, p.C, c_at + 1);
    }
  }

  __device__ __forceinline__ void store(const float (&totals)[kSums]) const {
#pragma unroll
    for (int i = 0; i < kSums; i += 2) {
      const int at_row = row + i / 2 % 2 * 8, at_column = column + i / 4 * 8;
      if constexpr (kSwapped) {
        // Eight lanes write 32 bytes of a row of D.
#pragma unroll
        for (int next = 0; next < 2; ++next) {
          const int m = at_column + next;
          if (m < p.M && at_row < p.N) ::store<Config>(p, m, at_row, totals[i + next]);
        }
      } else {
        store_pair(at_row, at_column, totals[i], totals[i + 1]);
      }
    }
  }
};
