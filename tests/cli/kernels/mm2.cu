// SPDX-License-Identifier: Apache-2.0
/* 2mm in the manner of a polyhedral benchmark suite: E = (A B) C, first product. */
#include <stdio.h>
#include <time.h>
#include <sys/time.h>
#include <stdlib.h>
#include <cuda.h>
#define NI 1024
#define NJ 1024
#define NK 1024
#define DIM_THREAD_BLOCK_X 32
#define DIM_THREAD_BLOCK_Y 8
typedef float DATA_TYPE;

__global__ void mm2_kernel1(int ni, int nj, int nk, DATA_TYPE alpha, DATA_TYPE *tmp, DATA_TYPE *A, DATA_TYPE *B)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	int i = blockIdx.y * blockDim.y + threadIdx.y;

	if ((i < ni) && (j < nj))
	{
		tmp[i * nj + j] = 0;
		int k;
		for (k = 0; k < nk; k++)
		{
			tmp[i * nj + j] += alpha * A[i * nk + k] * B[k * nj + j];
		}
	}
}

void mm2Cuda(DATA_TYPE alpha, DATA_TYPE* A_gpu, DATA_TYPE* B_gpu, DATA_TYPE* tmp_gpu)
{
	dim3 block(DIM_THREAD_BLOCK_X, DIM_THREAD_BLOCK_Y);
	dim3 grid1((size_t)ceil(((float)NJ) / ((float)block.x)), (size_t)ceil(((float)NI) / ((float)block.y)));
	mm2_kernel1<<<grid1, block>>>(NI, NJ, NK, alpha, tmp_gpu, A_gpu, B_gpu);
	cudaDeviceSynchronize();
}
