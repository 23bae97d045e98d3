// SPDX-License-Identifier: Apache-2.0
/* correlation: mean of each column. */
#include <math.h>
#include <stdio.h>
#define M 2048
#define N 2048
#define DIM_THREAD_BLOCK_KERNEL_1_X 256
#define DIM_THREAD_BLOCK_KERNEL_1_Y 1
#define FLOAT_N 3214212.01f
typedef float DATA_TYPE;

__global__ void mean_kernel(DATA_TYPE *mean, DATA_TYPE *data)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	if (j < M)
	{
		mean[j] = 0.0;
		int i;
		for (i = 0; i < N; i++)
		{
			mean[j] += data[i * M + j];
		}
		mean[j] /= (DATA_TYPE)FLOAT_N;
	}
}

void correlationCuda(DATA_TYPE* data_gpu, DATA_TYPE* mean_gpu)
{
	dim3 block1(DIM_THREAD_BLOCK_KERNEL_1_X, DIM_THREAD_BLOCK_KERNEL_1_Y);
	dim3 grid1((size_t)(ceil((float)(M)) / ((float)DIM_THREAD_BLOCK_KERNEL_1_X)), 1);
	mean_kernel<<< grid1, block1 >>>(mean_gpu, data_gpu);
}
