// SPDX-License-Identifier: Apache-2.0
// Detects a process that was forked after the first call of cuBLAS. It has copies of locks and
// counts, but not the thread, and CUDA does not work in it.
#pragma once

namespace autotune::blas {

/// From now on, is_forked() is true in children of this process.
void notice_forks();
bool is_forked() noexcept;

}  // namespace autotune::blas
