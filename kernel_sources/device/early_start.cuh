// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch: blocks of a kernel with "starts_early" in its manifest start while
// the kernel ahead of it in the stream still runs. From compute capability 9.0 on; elsewhere this
// does nothing.
#pragma once

/// Every thread calls this before it touches memory that other kernels write or read. Returns when
/// the kernel ahead has ended and its writes are visible. The kernel behind may start once all
/// blocks of this one have called it.
__device__ __forceinline__ void follow_kernel_ahead() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
