// SPDX-License-Identifier: Apache-2.0
// Grades the colours of an image: a gain for each channel, a lift, a range, and a number of levels.
struct Range {
  float low, high;
};
struct Grade {
  float gain[3];
  float4 lift;
  Range range;
  int levels;
};

__device__ float graded(float value, float gain, float lift, const Grade& grade) {
  const float lifted = fminf(fmaxf(value * gain + lift, grade.range.low), grade.range.high);
  return rintf(lifted * grade.levels) * (1.0f / grade.levels);
}

__device__ float4 graded(float4 pixel, const Grade& grade) {
  return make_float4(graded(pixel.x, grade.gain[0], grade.lift.x, grade),
                     graded(pixel.y, grade.gain[1], grade.lift.y, grade),
                     graded(pixel.z, grade.gain[2], grade.lift.z, grade), pixel.w + grade.lift.w);
}

__device__ float4 mixed(float4 a, float4 b, float2 mix) {
  return make_float4(mix.x * a.x + mix.y * b.x, mix.x * a.y + mix.y * b.y,
                     mix.x * a.z + mix.y * b.z, b.w);
}

extern "C" __global__ void grade_pixels(const float4* in, float4* out, Grade grade, float2 mix,
                                        int n) {
  const int first = blockIdx.x * BLOCK * PIXELS + threadIdx.x;
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) {
    const int i = first + k * BLOCK;
    if (i >= n) return;
    const float4 pixel = in[i], new_pixel = graded(pixel, grade);
    out[i] = mixed(pixel, new_pixel, mix);
  }
}

extern "C" __global__ void grade_reference(const float4* in, float4* out, Grade grade, float2 mix,
                                           int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 pixel = in[i], new_pixel = graded(pixel, grade);
  out[i] = mixed(pixel, new_pixel, mix);
}
