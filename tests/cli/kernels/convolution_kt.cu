// SPDX-License-Identifier: Apache-2.0
// 2D convolution with macros that the tuner gives, Kernel Tuner style.
#define image_height 512
#define filter_height 5
#define filter_width 5

extern "C" {
__constant__ float d_filter[filter_height * filter_width];

__global__ void convolution_kernel(float *output, const float *input, int image_w, int image_h) {
  int x = blockIdx.x * block_size_x * tile_size_x + threadIdx.x;
  int y = blockIdx.y * block_size_y + threadIdx.y;
#if use_padding == 1
  __shared__ float pad[block_size_y][block_size_x + 1];
#else
  __shared__ float pad[block_size_y][block_size_x];
#endif
  pad[threadIdx.y][threadIdx.x] = 0;
  for (int t = 0; t < tile_size_x; t++) {
    int px = x + t * block_size_x;
    float sum = pad[threadIdx.y][threadIdx.x];
    if (px < image_w && y < image_h) {
      for (int i = 0; i < filter_height; i++)
        for (int j = 0; j < filter_width; j++)
          sum += input[(y + i) * (image_w + filter_width - 1) + px + j] * d_filter[i * filter_width + j];
      output[y * image_w + px] = sum;
    }
  }
}
}
