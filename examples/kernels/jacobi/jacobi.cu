// SPDX-License-Identifier: Apache-2.0
// Jacobi's method for Laplace's equation: each step replaces a cell by the mean of its four
// neighbours. Cells at the edge stay. A launch goes up to DEPTH steps: a block loads its tile with
// a border of DEPTH cells, of which each step uses up one.

extern "C" __global__ void advance(const float* from, float* to, int height, int width,
                                   int steps) {
  __shared__ float tile[2][TILE_Y][TILE_X];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * (TILE_X - 2 * DEPTH) + tx - DEPTH;
  const int y = blockIdx.y * (TILE_Y - 2 * DEPTH) + ty - DEPTH;
  const bool is_there = x >= 0 && x < width && y >= 0 && y < height;
  const bool is_inner = x > 0 && x < width - 1 && y > 0 && y < height - 1;
  tile[0][ty][tx] = is_there ? from[y * width + x] : 0.0f;
  for (int step = 0; step < steps; ++step) {
    __syncthreads();
    const auto& old = tile[step % 2];
    const bool has_neighbours = tx > 0 && tx < TILE_X - 1 && ty > 0 && ty < TILE_Y - 1;
    tile[(step + 1) % 2][ty][tx] =
        is_inner && has_neighbours
            ? 0.25f * (old[ty - 1][tx] + old[ty + 1][tx] + old[ty][tx - 1] + old[ty][tx + 1])
            : old[ty][tx];
  }
  const bool is_of_tile =
      tx >= DEPTH && tx < TILE_X - DEPTH && ty >= DEPTH && ty < TILE_Y - DEPTH;
  if (is_there && is_of_tile) to[y * width + x] = tile[steps % 2][ty][tx];
}

extern "C" __global__ void one_step(const float* from, float* to, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  const int i = y * width + x;
  const bool is_inner = x > 0 && x < width - 1 && y > 0 && y < height - 1;
  to[i] = is_inner ? 0.25f * (from[i - width] + from[i + width] + from[i - 1] + from[i + 1])
                   : from[i];
}
