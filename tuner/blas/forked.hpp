// SPDX-License-Identifier: Apache-2.0
// A process that was forked from one that called cuBLAS. It has copies of locks, of counts and of a
// thread that is not there, and CUDA does not work in it.
#pragma once

namespace autotune::blas {

/// From now on is_forked() is true in processes that this one forks.
void notice_forks();
bool is_forked() noexcept;

}  // namespace autotune::blas
