// SPDX-License-Identifier: Apache-2.0
// Each element results from the same operations in the same order on every processor, so a search
// takes the same path everywhere. tuner/search/CMakeLists.txt sets the compiler options for this.
#include "tuner/search/tile.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#define AUTOTUNE_AVX2 __attribute__((target("avx2")))
#endif
#define AUTOTUNE_INLINE inline __attribute__((always_inline))

namespace autotune {
namespace {

/// A vector of eight floats. A loop keeps four of them in registers. GCC and clang lower it to the
/// target's vector width.
using Floats = float __attribute__((vector_size(32)));
constexpr int kFloats = 8;
constexpr int kChunk = 4 * kFloats;

/// e^-x for x >= 0, with a relative error of 2e-7; e^-87 above x = 87. As 2^n e^f, |f| <= ln 2 / 2.
AUTOTUNE_INLINE float exp_minus(float any) {
  const float x = std::min(any, 87.0F);
  constexpr float kRound = 12582912;  // 1.5 * 2^23: the sum has no bits for a fraction
  const float shifted = x * -1.44269504F + kRound;
  const float n = shifted - kRound;
  const float f = -x - n * 0.693359375F + n * 2.12194440e-4F;
  const float series =
      1 + f * (1 + f * (0.5F +
                        f * (1.6666665e-1F +
                             f * (4.1665796e-2F +
                                  f * (8.3334519e-3F + f * (1.3981999e-3F + f * 1.9875691e-4F))))));
  const std::int32_t power = std::bit_cast<std::int32_t>(shifted) - 0x4B400000 + 127;
  return series * std::bit_cast<float>(power << 23);
}

AUTOTUNE_INLINE void covariances_in(const float* tile, int dimensions, const float* point,
                                    const float* steps, float amplitude, float* result) {
  for (int first = 0; first < kTile; first += kChunk) {
    Floats sums[4] = {};
    for (int d = 0; d < dimensions; ++d) {
      const float* const column = tile + d * kTile + first;
      const Floats step = Floats{} + (steps ? steps[d] : 0);
      for (int i = 0; i < 4; ++i) {
        Floats delta;
        std::memcpy(&delta, column + i * kFloats, sizeof delta);
        delta -= point[d];
        sums[i] += delta * delta;
        if (steps) sums[i] += delta != 0 ? step : Floats{};
      }
    }
    float r2[kChunk];
    std::memcpy(r2, sums, sizeof r2);
    for (int i = 0; i < kChunk; ++i) {
      const float r = std::sqrt(r2[i]) * 2.2360680F;
      result[first + i] = amplitude * (1 + r + r2[i] * (5.0F / 3)) * exp_minus(r);
    }
  }
}

AUTOTUNE_INLINE void subtract_in(const float* columns, int count, const float* factors, float scale,
                                 float* values) {
  for (int first = 0; first < kTile; first += kChunk) {
    Floats rest[4];
    std::memcpy(rest, values + first, sizeof rest);
    for (int c = 0; c < count; ++c) {
      const float* const column = columns + c * kTile + first;
      for (int i = 0; i < 4; ++i) {
        Floats eight;
        std::memcpy(&eight, column + i * kFloats, sizeof eight);
        rest[i] -= factors[c] * eight;
      }
    }
    for (Floats& eight : rest) eight *= scale;
    std::memcpy(values + first, rest, sizeof rest);
  }
}

#if defined(AUTOTUNE_AVX2)
AUTOTUNE_AVX2 void covariances_avx2(const float* tile, int dimensions, const float* point,
                                    const float* steps, float amplitude, float* result) {
  covariances_in(tile, dimensions, point, steps, amplitude, result);
}

AUTOTUNE_AVX2 void subtract_avx2(const float* columns, int count, const float* factors, float scale,
                                 float* values) {
  subtract_in(columns, count, factors, scale, values);
}

const bool kHasAvx2 = __builtin_cpu_supports("avx2");
#endif

}  // namespace

Eigen::MatrixXf in_tiles(const Points& points) {
  const Eigen::Index tiles = tiles_of(points.rows());
  Eigen::MatrixXf all = Eigen::MatrixXf::Zero(kTile, tiles * points.cols());
  for (Eigen::Index tile = 0; tile < tiles; ++tile) {
    const Eigen::Index first = tile * kTile;
    const Eigen::Index rows = std::min<Eigen::Index>(kTile, points.rows() - first);
    all.block(0, tile * points.cols(), rows, points.cols()) = points.middleRows(first, rows);
  }
  return all;
}

void tile_covariances(const float* tile, int dimensions, const float* point, const float* steps,
                      float amplitude, float* result) {
#if defined(AUTOTUNE_AVX2)
  if (kHasAvx2) return covariances_avx2(tile, dimensions, point, steps, amplitude, result);
#endif
  covariances_in(tile, dimensions, point, steps, amplitude, result);
}

void subtract_columns(const float* columns, int count, const float* factors, float scale,
                      float* values) {
#if defined(AUTOTUNE_AVX2)
  if (kHasAvx2) return subtract_avx2(columns, count, factors, scale, values);
#endif
  subtract_in(columns, count, factors, scale, values);
}

}  // namespace autotune
