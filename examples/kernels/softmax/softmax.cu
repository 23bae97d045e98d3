// SPDX-License-Identifier: Apache-2.0
// y[r,:] = softmax(x[r,:]) for row-major f32 matrices. THREADS threads share a row, and a block has
// ROWS rows: grid ceil(rows / ROWS), block (THREADS, ROWS). A thread reads every THREADS-th vector.
//   STAGING  where a row is between the passes: read again from global memory, in (dynamic) shared
//            memory, or in registers
//   PASSES   separate: the maximum first, then the sum; online: both in one pass
// columns is a multiple of VECTOR. Macros: softmax.target.toml. After Milakov and Gimelshein,
// "Online normalizer calculation for softmax" (2018).

struct alignas(4 * VECTOR) Vector {
  float value[VECTOR];
};

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// What `combine` makes of the values of all threads of a row, in each of them.
template <class Combine>
__device__ float over_row(float value, Combine combine) {
  constexpr int kLanes = THREADS < 32 ? THREADS : 32;
  for (int step = kLanes / 2; step > 0; step /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
  }
#if THREADS > 32
  __shared__ float warps[ROWS][THREADS / 32];
  __syncthreads();  // those of an earlier call have been read
  if (threadIdx.x % 32 == 0) warps[threadIdx.y][threadIdx.x / 32] = value;
  __syncthreads();
  value = warps[threadIdx.y][0];
  for (int warp = 1; warp < THREADS / 32; ++warp) value = combine(value, warps[threadIdx.y][warp]);
#endif
  return value;
}

extern "C" __global__ void __launch_bounds__(THREADS* ROWS)
    softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int columns) {
  const int row = blockIdx.x * ROWS + threadIdx.y;
  const int vectors = columns / VECTOR;
  const long long first = (long long)min(row, rows - 1) * vectors;  // all threads reach barriers
  const Vector* const from = reinterpret_cast<const Vector*>(x) + first;

#if STAGING == STAGING_SHARED
  extern __shared__ float4 shared[];
  Vector* const held = reinterpret_cast<Vector*>(shared) + threadIdx.y * vectors;
#define HELD(item, i) held[i]
#elif STAGING == STAGING_REGISTERS
  Vector held[ITEMS];
#define HELD(item, i) held[item]
#else
#define HELD(item, i) from[i]
#endif

  float most = -3.4e38f, sum = 0;
#pragma unroll UNROLLED
  for (int item = 0; item < ITEMS; ++item) {
    const int i = item * THREADS + threadIdx.x;
    if (i >= vectors) continue;
    const Vector vector = from[i];
#if STAGING != STAGING_GLOBAL
    HELD(item, i) = vector;
#endif
    float next = most;
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) next = fmaxf(next, vector.value[j]);
#if PASSES == PASSES_ONLINE
    sum *= EXP(most - next);
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) sum += EXP(vector.value[j] - next);
#endif
    most = next;
  }

  const float row_most = over_row(most, Max());
#if PASSES == PASSES_ONLINE
  sum *= EXP(most - row_most);
#else
#pragma unroll UNROLLED
  for (int item = 0; item < ITEMS; ++item) {
    const int i = item * THREADS + threadIdx.x;
    if (i >= vectors) continue;
    const Vector vector = HELD(item, i);
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) sum += EXP(vector.value[j] - row_most);
  }
#endif
  const float scale = 1.0f / over_row(sum, Sum());

  if (row >= rows) return;
  Vector* const to = reinterpret_cast<Vector*>(y) + first;
#pragma unroll UNROLLED
  for (int item = 0; item < ITEMS; ++item) {
    const int i = item * THREADS + threadIdx.x;
    if (i >= vectors) continue;
    Vector vector = HELD(item, i);
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) vector.value[j] = EXP(vector.value[j] - row_most) * scale;
    to[i] = vector;
  }
}

// The right answer: a thread for each row, in double.
extern "C" __global__ void softmax_reference(const float* x, double* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* const from = x + (long long)row * columns;
  double* const to = y + (long long)row * columns;
  double most = from[0], sum = 0;
  for (int i = 1; i < columns; ++i) most = fmax(most, (double)from[i]);
  for (int i = 0; i < columns; ++i) sum += exp(from[i] - most);
  for (int i = 0; i < columns; ++i) to[i] = exp(from[i] - most) / sum;
}
