// SPDX-License-Identifier: Apache-2.0
// Logarithms of ratios of prices, by pointers into buffers of structs, in blocks of at most 128.
#include <float.h>
#include <stdio.h>
#include <vector>

#define THREADS_PER_BLOCK 128
#define REPORT_LENGTH 64
#define CHECK(call) { cudaError_t error = (call); if (error != cudaSuccess) exit(1); }

typedef struct quote { float opening, closing; } Quote;
const int DAYS = 250000;
const float SCALE = 100.0f;

__launch_bounds__(THREADS_PER_BLOCK)
__global__ void log_returns(Quote *quotes, float *returns, float scale, int days) {
  int day = blockDim.x * blockIdx.x + threadIdx.x;
  Quote *quote = quotes + day;
  if (day < days) {
    float *result = &returns[day];
    *result = scale * logf(quote->closing / quote->opening);
  }
}

int main() {
  std::vector<Quote> quotes(DAYS);
  Quote *d_quotes;
  float *d_returns;
  CHECK(cudaMalloc((void **)&d_quotes, sizeof(Quote) * DAYS));
  CHECK(cudaMalloc((void **)&d_returns, sizeof(float) * DAYS));
  log_returns<<<(DAYS + THREADS_PER_BLOCK - 1) / THREADS_PER_BLOCK, THREADS_PER_BLOCK>>>(d_quotes, d_returns, SCALE, DAYS);
  CHECK(cudaDeviceSynchronize());
}
