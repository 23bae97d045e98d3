// SPDX-License-Identifier: Apache-2.0
// All-pairs forces with positions and masses in float4, a tile of bodies in shared memory.
#include <cooperative_groups.h>
#include <math.h>
namespace cg = cooperative_groups;

__constant__ float softeningSquared;

template <typename T> struct vec3 { typedef float Type; };
template <> struct vec3<float> { typedef float3 Type; };

__device__ float3 bodyBodyInteraction(float3 ai, float4 bi, float4 bj) {
  float3 r;
  r.x = bj.x - bi.x;
  r.y = bj.y - bi.y;
  r.z = bj.z - bi.z;
  float distSqr = r.x * r.x + r.y * r.y + r.z * r.z;
  distSqr += 0.01f;
  float invDist = rsqrtf(distSqr);
  float invDistCube = invDist * invDist * invDist;
  float s = bj.w * invDistCube;
  ai.x += r.x * s;
  ai.y += r.y * s;
  ai.z += r.z * s;
  return ai;
}

__device__ float3 computeBodyAccel(float4 bodyPos, const float4* positions, int numTiles, cg::thread_block cta) {
  extern __shared__ float4 sharedPos[];
  float3 acc = {0.0f, 0.0f, 0.0f};
  for (int tile = 0; tile < numTiles; tile++) {
    sharedPos[threadIdx.x] = positions[tile * blockDim.x + threadIdx.x];
    cg::sync(cta);
#pragma unroll 128
    for (unsigned int counter = 0; counter < blockDim.x; counter++) {
      acc = bodyBodyInteraction(acc, bodyPos, sharedPos[counter]);
    }
    cg::sync(cta);
  }
  return acc;
}

__global__ void integrateBodies(float4* __restrict__ newPos, const float4* __restrict__ oldPos, float4* vel,
                                unsigned int deviceNumBodies, float deltaTime, float damping, int numTiles) {
  cg::thread_block cta = cg::this_thread_block();
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= deviceNumBodies) return;
  float4 position = oldPos[index];
  float3 accel = computeBodyAccel(position, oldPos, numTiles, cta);
  float4 velocity = vel[index];
  velocity.x += accel.x * deltaTime;
  velocity.y += accel.y * deltaTime;
  velocity.z += accel.z * deltaTime;
  velocity.x *= damping;
  velocity.y *= damping;
  velocity.z *= damping;
  position.x += velocity.x * deltaTime;
  position.y += velocity.y * deltaTime;
  position.z += velocity.z * deltaTime;
  newPos[index] = position;
  vel[index] = velocity;
}

void integrateNbodySystem(float4* newPos, float4* oldPos, float4* vel, float deltaTime, float damping, unsigned int numBodies, int blockSize) {
  int numBlocks = (numBodies + blockSize - 1) / blockSize;
  int numTiles = (numBodies + blockSize - 1) / blockSize;
  int sharedMemSize = blockSize * 4 * sizeof(float);
  integrateBodies<<<numBlocks, blockSize, sharedMemSize>>>(newPos, oldPos, vel, numBodies, deltaTime, damping, numTiles);
}
