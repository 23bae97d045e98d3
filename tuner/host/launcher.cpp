// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/launcher.hpp"

#include <signal.h>

#include <algorithm>
#include <limits>

#include "tuner/core/device.hpp"
#include "tuner/host/process.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// A fibre takes two mappings, and a process may have 65530. Host threads keep their fibres: of the
/// largest blocks 16 x 1024 x 2 fit, and what clusters and cooperative launches add.
constexpr unsigned kMostThreadsWithFibres = 16;
/// Pieces for each thread, so that one late thread does not delay the launch.
constexpr std::uint64_t kPiecesPerThread = 8;

autotune_host::Extent extent(const Dim3& size) {
  return {static_cast<unsigned>(size.x), static_cast<unsigned>(size.y),
          static_cast<unsigned>(size.z)};
}

/// Host threads that a launch may occupy.
unsigned most_threads(const HostLaunch& launch) {
  const std::int64_t fibres = launch.cluster.count() * launch.block.count();
  if (fibres == 1) return std::numeric_limits<unsigned>::max();
  if (launch.cluster.count() == 1) return kMostThreadsWithFibres;
  return static_cast<unsigned>(
      std::clamp<std::int64_t>(kMostHostThreads / fibres, 1, kMostThreadsWithFibres));
}

/// The place of item `number` in a space of this size, numbered with x fastest.
Dim3 place_of(std::int64_t number, const Dim3& size) {
  return {number % size.x, number / size.x % size.y, number / size.x / size.y};
}

[[noreturn]] void throw_deadlock(const HostLaunch& launch, std::uint64_t cluster,
                                 const Deadlock& deadlock) {
  const Dim3 &grid = launch.grid, &size = launch.cluster;
  const Dim3 first = place_of(static_cast<std::int64_t>(cluster),
                              {grid.x / size.x, grid.y / size.y, grid.z / size.z});
  const Dim3 block = place_of(deadlock.rank, size);
  throw KernelFailure(
      Outcome::crash,
      format("{}: deadlock at a barrier in block ({}, {}, {}): of {} threads {} wait at "
             "__syncthreads, {} at a warp's barrier{}, and {} have ended",
             launch.entry, first.x * size.x + block.x, first.y * size.y + block.y,
             first.z * size.z + block.z, launch.block.count(), deadlock.at_block_barrier,
             deadlock.at_warp_barrier,
             deadlock.at_cluster_barrier == 0
                 ? ""
                 : format(", {} at the cluster's", deadlock.at_cluster_barrier),
             deadlock.ended));
}

[[noreturn]] void throw_stray_write(const HostLaunch& launch, std::ptrdiff_t at) {
  throw KernelFailure(
      Outcome::wrong,
      format("{}: wrote {} the {} bytes of its dynamic shared memory, at byte {}: correct "
             "dynamic_shared_bytes, or the bounds in the kernel",
             launch.entry, at < 0 ? "before" : "behind", launch.dynamic_shared_bytes, at));
}

[[noreturn]] void throw_stray_access(const HostLaunch& launch, const std::string& access) {
  throw KernelFailure(Outcome::wrong,
                      format("{} {}: correct its index, or exclude this block by a constraint",
                             launch.entry, access));
}

}  // namespace

Launcher::Launcher(unsigned threads, ThreadOrder order) : pool_(threads) {
  for (unsigned i = 0; i < pool_.size(); ++i) {
    runners_.push_back(std::make_unique<ClusterRunner>(order));
  }
}

void Launcher::run(const HostLaunch& launch) {
  const auto blocks = static_cast<unsigned>(launch.cluster.count());
  const auto clusters = static_cast<std::uint64_t>(launch.grid.count()) / blocks;
  const unsigned threads = std::min(pool_.size(), most_threads(launch));
  const std::uint64_t piece = std::max<std::uint64_t>(1, clusters / (threads * kPiecesPerThread));
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> stuck{clusters};
  std::atomic<unsigned> stuck_on{0};

  const auto work = [&](unsigned number) {
    if (number >= threads) return;
    runners_[number]->enter(*launch.module, blocks, launch.dynamic_shared_bytes);
    for (std::uint64_t first = 0;
         stuck == clusters && (first = next.fetch_add(piece)) < clusters;) {
      const std::uint64_t last = std::min(first + piece, clusters);
      const std::uint64_t done =
          launch.kernel(const_cast<void**>(launch.arguments.data()), extent(launch.grid),
                        extent(launch.block), extent(launch.cluster), first, last);
      std::uint64_t none = clusters;
      if (done < last && stuck.compare_exchange_strong(none, done)) stuck_on = number;
    }
  };
  if (clusters == 1) {
    work(0);
  } else {
    pool_.run(work);
  }
  for (unsigned number = 0; number < threads; ++number) {
    const std::string& access = runners_[number]->stray_access();
    if (!access.empty()) throw_stray_access(launch, access);
  }
  if (stuck != clusters) throw_deadlock(launch, stuck, runners_[stuck_on]->deadlock());
  for (unsigned number = 0; number < threads; ++number) {
    if (const auto at = runners_[number]->stray_byte()) throw_stray_write(launch, *at);
  }
}

void Launcher::run_nothing() {
  pool_.run([](unsigned) {});
}

namespace {

/// Signals for the program's own threads. Faults are not among them: they belong to the faulting
/// thread.
sigset_t signals_from_elsewhere() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : kFaultSignals) sigdelset(&signals, fault);
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
