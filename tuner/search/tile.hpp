// SPDX-License-Identifier: Apache-2.0
// Arithmetic on many candidates at a time, in the widest vectors that the processor has.
#pragma once

#include <Eigen/Core>

#include "tuner/search/points.hpp"

namespace autotune {

/// Candidates are worked on in tiles of this many. A column is one value of each of them.
inline constexpr int kTile = 64;
inline Eigen::Index tiles_of(Eigen::Index rows) { return (rows + kTile - 1) / kTile; }

/// Points in tiles, one after the other: kTile rows, and for each tile a column per dimension. The
/// last tile is filled up with zeros.
Eigen::MatrixXf in_tiles(const Points& points);

/// Writes one column: the covariances of `point` with a tile of points, amplitude (1 + √5 r + 5/3
/// r²) e^(-√5 r), where r² = Σ Δ² + steps [Δ ≠ 0]. `tile` has `dimensions` columns. `steps` has one
/// value per dimension, or is null for none.
void tile_covariances(const float* tile, int dimensions, const float* point, const float* steps,
                      float amplitude, float* result);

/// values = scale (values - Σ factors[i] columns[i]), for one column of values.
void subtract_columns(const float* columns, int count, const float* factors, float scale,
                      float* values);

}  // namespace autotune
