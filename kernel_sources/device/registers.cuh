// SPDX-License-Identifier: Apache-2.0
// Registers that one warpgroup leaves to another: all of its warps call this. A kernel's launch
// bounds give each thread the same number at first. Only for sm_90a; elsewhere this does nothing.
#pragma once

/// Keeps `count` registers a thread, a multiple of 8.
template <int count>
__device__ __forceinline__ void leave_registers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
#endif
}

/// Has `count` registers a thread, once others have left them.
template <int count>
__device__ __forceinline__ void take_registers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
#endif
}
