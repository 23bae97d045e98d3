// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/forked.hpp"

#include <pthread.h>

#include <atomic>

namespace autotune::blas {
namespace {

std::atomic<bool> forked{false};

}  // namespace

void notice_forks() {
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
}

bool is_forked() noexcept { return forked.load(std::memory_order_relaxed); }

}  // namespace autotune::blas
