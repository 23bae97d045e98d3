// SPDX-License-Identifier: Apache-2.0
// Kernels that follow one another without a gap (programmatic dependent launch, compute capability
// 9.0; elsewhere this does nothing): blocks of a kernel with "starts_early" in its manifest start
// while the kernel ahead of it in the stream still runs, and wait for its end.
#pragma once

/// Called by every thread before it touches memory that others write or read. Returns when the
/// kernel ahead has ended and all that it wrote is seen. Once all blocks of this kernel have come
/// here, those of one behind it may start.
__device__ __forceinline__ void follow_kernel_ahead() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
