// SPDX-License-Identifier: Apache-2.0
// The gravity of all bodies on each: a[i] = sum over j of m[j] d / (|d|^2 + softening)^1.5 with
// d = p[j] - p[i]. A body is a float4 (x, y, z, mass), an acceleration three floats. Each thread
// sums up BODIES bodies, BLOCK apart, over one of SPLIT parts of all bodies; `add_parts` sums up the
// parts. Grid (ceil(n / (BLOCK * BODIES)), SPLIT), block BLOCK.
//   STAGING  shared: a block loads BLOCK bodies at a time into shared memory; none: all threads of a
//            warp read the same body through L1
// Macros: nbody.target.toml. After Nyland, Harris and Prins, "Fast N-Body Simulation with CUDA"
// (GPU Gems 3, 2007).

struct Acceleration {
  float x, y, z;
};

constexpr float kSoftening = 0.01f;

__device__ inline void add_pull(Acceleration& sum, const float4& on, const float4& from) {
  const float x = from.x - on.x, y = from.y - on.y, z = from.z - on.z;
#if ROOT == ROOT_RSQRT
  const float inverse = rsqrtf(x * x + y * y + z * z + kSoftening);
#else
  const float inverse = 1.0f / sqrtf(x * x + y * y + z * z + kSoftening);
#endif
  const float pull = from.w * inverse * inverse * inverse;
  sum.x += pull * x;
  sum.y += pull * y;
  sum.z += pull * z;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    nbody(const float4* __restrict__ bodies, Acceleration* __restrict__ accelerations, int n) {
  float4 mine[BODIES];
  Acceleration sums[BODIES] = {};
  const int first = blockIdx.x * BLOCK * BODIES + threadIdx.x;
#pragma unroll
  for (int k = 0; k < BODIES; ++k) mine[k] = bodies[min(first + k * BLOCK, n - 1)];

  const int part = (n + SPLIT - 1) / SPLIT;
  const int begin = blockIdx.y * part, end = min(n, begin + part);
#if STAGING == STAGING_SHARED
  __shared__ float4 tile[BLOCK];
  for (int at = begin; at < end; at += BLOCK) {
    __syncthreads();  // the tile before has been read
    // A body without mass pulls nothing.
    tile[threadIdx.x] = at + (int)threadIdx.x < end ? bodies[at + threadIdx.x]
                                                    : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
#pragma unroll UNROLL
    for (int j = 0; j < BLOCK; ++j) {
      const float4 from = tile[j];
#pragma unroll
      for (int k = 0; k < BODIES; ++k) add_pull(sums[k], mine[k], from);
    }
  }
#else
#pragma unroll UNROLL
  for (int j = begin; j < end; ++j) {
    const float4 from = bodies[j];
#pragma unroll
    for (int k = 0; k < BODIES; ++k) add_pull(sums[k], mine[k], from);
  }
#endif

#pragma unroll
  for (int k = 0; k < BODIES; ++k) {
    const int i = first + k * BLOCK;
    if (i < n) accelerations[(long long)blockIdx.y * n + i] = sums[k];
  }
}

extern "C" __global__ void add_parts(const Acceleration* parts, Acceleration* accelerations,
                                     int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Acceleration sum = parts[i];
  for (int part = 1; part < SPLIT; ++part) {
    const Acceleration more = parts[(long long)part * n + i];
    sum.x += more.x;
    sum.y += more.y;
    sum.z += more.z;
  }
  accelerations[i] = sum;
}

// The right answer: a thread for each body, in double; three numbers a body.
extern "C" __global__ void nbody_reference(const float4* bodies, double* accelerations, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sums[3] = {};
  for (int j = 0; j < n; ++j) {
    const double x = (double)bodies[j].x - bodies[i].x, y = (double)bodies[j].y - bodies[i].y,
                 z = (double)bodies[j].z - bodies[i].z;
    const double square = x * x + y * y + z * z + (double)kSoftening;
    const double pull = bodies[j].w / (square * sqrt(square));
    sums[0] += pull * x;
    sums[1] += pull * y;
    sums[2] += pull * z;
  }
  for (int k = 0; k < 3; ++k) accelerations[3ll * i + k] = sums[k];
}
