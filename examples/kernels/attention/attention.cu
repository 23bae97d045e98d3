// SPDX-License-Identifier: Apache-2.0
// o = softmax(q k^T / sqrt(D)) v of each head, f32: q, k, v and o are HEADS x n x D, row-major. The
// product of scores is never stored: keys come in tiles, and the softmax is corrected as it goes.
// LANES neighbouring threads share a query, each with every LANES-th run of VECTOR of its D
// elements. A thread has QUERIES queries. It takes KEYS keys at a time, so that their products are
// independent and the sums are rescaled once. Grid (ceil(n / (BLOCK / LANES * QUERIES)), HEADS),
// block BLOCK.
//   STAGING  shared: TILE keys and values at a time are in (dynamic) shared memory; none: threads
//            read them through L1
// Macros, D among them: attention.target.toml. After Dao et al., "FlashAttention" (NeurIPS 2022).

constexpr int kRuns = D / LANES / VECTOR;  // of a thread

struct alignas(4 * VECTOR) Run {
  float value[VECTOR];
};
struct Share {
  Run runs[kRuns];  // this thread's elements of a query, key or value
};

__device__ inline Share load_share(const float* row, int lane) {
  Share share;
#pragma unroll
  for (int i = 0; i < kRuns; ++i) {
    share.runs[i] = *reinterpret_cast<const Run*>(row + (i * LANES + lane) * VECTOR);
  }
  return share;
}

__device__ inline float dot(const Share& a, const Share& b) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kRuns; ++i) {
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) sum += a.runs[i].value[j] * b.runs[i].value[j];
  }
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, step);
  }
  return sum;
}

__device__ inline void scale(Share& share, float by) {
#pragma unroll
  for (int i = 0; i < kRuns; ++i) {
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) share.runs[i].value[j] *= by;
  }
}

__device__ inline void add_scaled(Share& sum, float by, const Share& more) {
#pragma unroll
  for (int i = 0; i < kRuns; ++i) {
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) sum.runs[i].value[j] += by * more.runs[i].value[j];
  }
}

/// One query as far as its keys have been seen.
struct Query {
  Share q, sum;
  float most, weight;  // the largest score; the sum of exp(score - most)
};

/// Takes `count` keys and values, at most KEYS, whose rows follow each other.
__device__ inline void attend(Query (&queries)[QUERIES], const float* keys, const float* values,
                              int count, int lane) {
  float scores[QUERIES][KEYS];
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const Share key = load_share(keys + min(j, count - 1) * D, lane);
#pragma unroll
    for (int i = 0; i < QUERIES; ++i) scores[i][j] = j < count ? dot(queries[i].q, key) : -3.4e38f;
  }
#pragma unroll
  for (int i = 0; i < QUERIES; ++i) {
    float most = queries[i].most;
#pragma unroll
    for (int j = 0; j < KEYS; ++j) most = fmaxf(most, scores[i][j]);
    const float shrink = EXP(queries[i].most - most);
    scale(queries[i].sum, shrink);
    queries[i].weight *= shrink;
    queries[i].most = most;
#pragma unroll
    for (int j = 0; j < KEYS; ++j) {
      scores[i][j] = EXP(scores[i][j] - most);
      queries[i].weight += scores[i][j];
    }
  }
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const Share value = load_share(values + min(j, count - 1) * D, lane);
#pragma unroll
    for (int i = 0; i < QUERIES; ++i) add_scaled(queries[i].sum, scores[i][j], value);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    attention(const float* __restrict__ q, const float* __restrict__ k,
              const float* __restrict__ v, float* __restrict__ o, int n) {
  const long long head = (long long)blockIdx.y * n * D;
  const int lane = threadIdx.x % LANES;
  const int first = blockIdx.x * (BLOCK / LANES * QUERIES) + threadIdx.x / LANES;
  Query queries[QUERIES];
#pragma unroll
  for (int i = 0; i < QUERIES; ++i) {
    const int row = min(first + i * (BLOCK / LANES), n - 1);  // all threads reach barriers
    queries[i] = {load_share(q + head + (long long)row * D, lane), {}, -3.4e38f, 0};
    scale(queries[i].q, rsqrtf((float)D));
  }

  const float* const keys = k + head;
  const float* const values = v + head;
#if STAGING == STAGING_SHARED
  extern __shared__ float4 tile[];
  float* const some_keys = reinterpret_cast<float*>(tile);
  float* const some_values = some_keys + TILE * D;
  for (int at = 0; at < n; at += TILE) {
    const int count = min(TILE, n - at);
    __syncthreads();  // the tile before has been read
    for (int i = threadIdx.x * VECTOR; i < count * D; i += BLOCK * VECTOR) {
      const long long from = (long long)at * D + i;
      *reinterpret_cast<Run*>(some_keys + i) = *reinterpret_cast<const Run*>(keys + from);
      *reinterpret_cast<Run*>(some_values + i) = *reinterpret_cast<const Run*>(values + from);
    }
    __syncthreads();
    for (int j = 0; j < count; j += KEYS) {
      attend(queries, some_keys + j * D, some_values + j * D, min(KEYS, count - j), lane);
    }
  }
#else
  for (int j = 0; j < n; j += KEYS) {
    const long long from = (long long)j * D;
    attend(queries, keys + from, values + from, min(KEYS, n - j), lane);
  }
#endif

#pragma unroll
  for (int i = 0; i < QUERIES; ++i) {
    const int row = first + i * (BLOCK / LANES);
    if (row >= n) continue;
    scale(queries[i].sum, 1.0f / queries[i].weight);
    float* const to = o + head + (long long)row * D;
#pragma unroll
    for (int r = 0; r < kRuns; ++r) {
      *reinterpret_cast<Run*>(to + (r * LANES + lane) * VECTOR) = queries[i].sum.runs[r];
    }
  }
}

// The right answer: a thread for each query, in double, with the maximum in a pass of its own.
extern "C" __global__ void attention_reference(const float* q, const float* k, const float* v,
                                               double* o, int n) {
  const long long head = (long long)blockIdx.y * n * D;
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  const float* const query = q + head + (long long)row * D;
  double most = -1e300, weight = 0, sums[D] = {};
  for (int pass = 0; pass < 2; ++pass) {
    for (int j = 0; j < n; ++j) {
      double score = 0;
      for (int i = 0; i < D; ++i) score += (double)query[i] * k[head + (long long)j * D + i];
      score /= sqrt((double)D);
      if (pass == 0) {
        most = fmax(most, score);
        continue;
      }
      const double part = exp(score - most);
      weight += part;
      for (int i = 0; i < D; ++i) sums[i] += part * v[head + (long long)j * D + i];
    }
  }
  for (int i = 0; i < D; ++i) o[head + (long long)row * D + i] = sums[i] / weight;
}
