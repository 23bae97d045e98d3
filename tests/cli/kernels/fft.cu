// SPDX-License-Identifier: Apache-2.0
// One radix-2 step of a Stockham transform, out of place.
#include <cuda_runtime.h>
#include <cuComplex.h>
#include <math_constants.h>

__device__ float2 cmul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

__global__ void fft_radix2(const float2* __restrict__ x, float2* __restrict__ y, int n, int p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int t = n / 2;
  if (i >= t) return;
  int k = i & (p - 1);
  float2 u0 = x[i];
  float2 u1 = x[i + t];
  float angle = -3.14159265358979f * (float)k / (float)p;
  float s, c;
  sincosf(angle, &s, &c);
  float2 v = cmul(make_float2(c, s), u1);
  int j = (i << 1) - k;
  y[j] = make_float2(u0.x + v.x, u0.y + v.y);
  y[j + p] = make_float2(u0.x - v.x, u0.y - v.y);
}

void fft(float2* a, float2* b, int n) {
  for (int p = 1; p < n; p <<= 1) {
    fft_radix2<<<(n / 2 + 255) / 256, 256>>>(a, b, n, p);
    float2* s = a; a = b; b = s;
  }
}
