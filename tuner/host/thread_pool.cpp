// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/thread_pool.hpp"

#include <signal.h>

#include <algorithm>

namespace autotune {
namespace {

/// Signals for the program's own threads. Faults are not among them: they belong to the faulting
/// thread.
sigset_t signals_from_elsewhere() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS}) {
    sigdelset(&signals, fault);
  }
  return signals;
}

}  // namespace

ThreadPool::ThreadPool(unsigned threads) {
  const unsigned count = threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
  const sigset_t blocked = signals_from_elsewhere();
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  for (unsigned i = 1; i < count; ++i) threads_.emplace_back([this, i] { serve(i); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  ++runs_;
  runs_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(const std::function<void(unsigned)>& work) {
  work_ = &work;
  busy_ = static_cast<std::uint32_t>(threads_.size());
  ++runs_;
  runs_.notify_all();
  work(0);
  for (std::uint32_t left = busy_; left != 0; left = busy_) busy_.wait(left);
}

void ThreadPool::run_pieces(std::int64_t length,
                            const std::function<void(std::int64_t, std::int64_t)>& work) {
  if (length <= kPiece) return work(0, length);
  std::atomic<std::int64_t> next{0};
  run([&](unsigned) {
    for (std::int64_t first; (first = next.fetch_add(kPiece)) < length;) {
      work(first, std::min(kPiece, length - first));
    }
  });
}

void ThreadPool::serve(unsigned number) {
  for (std::uint32_t seen = 0;; ++seen) {
    runs_.wait(seen);
    if (stop_) return;
    (*work_)(number);
    if (--busy_ == 0) busy_.notify_one();
  }
}

}  // namespace autotune
