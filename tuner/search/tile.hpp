// SPDX-License-Identifier: Apache-2.0
// Vectorized arithmetic on tiles of candidates.
#pragma once

#include <Eigen/Core>

#include "tuner/search/points.hpp"

namespace autotune {

/// Candidates per tile. A column has one value for each of them.
inline constexpr int kTile = 64;
inline Eigen::Index tiles_of(Eigen::Index rows) { return (rows + kTile - 1) / kTile; }

/// Points in tiles, side by side: kTile rows, and one column per dimension and tile. The last tile
/// is padded with zeros.
Eigen::MatrixXf in_tiles(const Points& points);

/// Writes one column: the covariances of `point` with a tile of points, amplitude (1 + √5 r + 5/3
/// r²) e^(-√5 r), where r² = Σ Δ² + steps [Δ ≠ 0]. `tile` has `dimensions` columns. `steps` has one
/// value per dimension; null means none.
void tile_covariances(const float* tile, int dimensions, const float* point, const float* steps,
                      float amplitude, float* result);

/// values = scale (values - Σ factors[i] columns[i]), for one column of values.
void subtract_columns(const float* columns, int count, const float* factors, float scale,
                      float* values);

}  // namespace autotune
