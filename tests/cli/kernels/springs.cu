// SPDX-License-Identifier: Apache-2.0
// Forces of springs to neighbours in a list, by a template whose types the host's own template has.
#include <iostream>
#include <string>
static const int blockSize = 64;
static const int neighbours = 16;
static const float stiffness = 0.5f, rest = 1.25f;
struct limits { float range[2]; int count; };

template <class T, class Force, class Position, bool useImage>
__global__ void springs(Force *__restrict__ forces, const Position *__restrict__ positions, const int count,
                        const int *__restrict__ list, const T stiffness_, const T rest_, const limits bounds,
                        const int points) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  Position own = positions[at];
  Force sum = {0.0f, 0.0f, 0.0f};
  for (int i = 0; i < count; ++i) {
    Position other = positions[list[i * points + at]];
    T x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
    T length = sqrtf(x * x + y * y + z * z) + 0.01f;
    T pull = stiffness_ * (length - rest_ * bounds.range[1]) / length;
    sum.x += pull * x; sum.y += pull * y; sum.z += pull * z;
  }
  forces[at] = sum;
}

template <class T, class Force, class Position>
void run(const std::string &name, int points) {
  Force *forces; Position *positions; int *list; limits bounds;
  cudaMalloc((void **)&positions, points * sizeof(Position));
  int blocks = points / blockSize;
  if (points % blockSize) blocks++;
  springs<T, Force, Position, false><<<blocks, blockSize>>>(forces, positions, neighbours, list, stiffness, rest, bounds, points);
}
int main() { run<float, float3, float4>("springs", 4096); }
