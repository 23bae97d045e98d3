// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication, one kernel a variant. operands.cuh has the contract that all share; the
// parameters are those of gemm.target.json.
#include "operands.cuh"

#if KERNEL == KERNEL_TILED
#include "tiled.cuh"
#elif KERNEL == KERNEL_NAIVE
#include "naive.cuh"
#elif KERNEL == KERNEL_SINGLE_BLOCK
#include "single_block.cuh"
#elif KERNEL == KERNEL_MICRO
#include "micro.cuh"
#elif KERNEL == KERNEL_FAST
#include "fast.cuh"
#if PACK != PACK_NONE
#include "pack.cuh"
#endif
#if REDUCTION == REDUCTION_ATOMIC
#include "clear.cuh"
#endif
#endif

#include "reference.cuh"
