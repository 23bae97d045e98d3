// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/launcher.hpp"

#include <algorithm>
#include <atomic>

#include "tuner/core/device.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// A fibre takes two mappings, and a process may have 65530: 16 x 1024 x 2 fit.
constexpr unsigned kMostThreadsWithFibres = 16;
/// Pieces for each thread, so that one late thread does not delay the launch.
constexpr std::uint64_t kPiecesPerThread = 8;

autotune_host::Extent extent(const Dim3& size) {
  return {static_cast<unsigned>(size.x), static_cast<unsigned>(size.y),
          static_cast<unsigned>(size.z)};
}

[[noreturn]] void throw_deadlock(const HostLaunch& launch, std::uint64_t block,
                                 const Deadlock& deadlock) {
  const auto x = static_cast<std::uint64_t>(launch.grid.x);
  const auto y = static_cast<std::uint64_t>(launch.grid.y);
  throw KernelFailure(
      Outcome::crash,
      format("{}: deadlock at a barrier in block ({}, {}, {}): of {} threads {} wait at "
             "__syncthreads, {} at a warp's barrier, and {} have ended",
             launch.entry, block % x, block / x % y, block / x / y, launch.block.count(),
             deadlock.at_block_barrier, deadlock.at_warp_barrier, deadlock.ended));
}

}  // namespace

Launcher::Launcher(unsigned threads, ThreadOrder order) : pool_(threads) {
  for (unsigned i = 0; i < pool_.size(); ++i) {
    runners_.push_back(std::make_unique<BlockRunner>(order));
  }
}

void Launcher::run(const HostLaunch& launch) {
  const auto blocks = static_cast<std::uint64_t>(launch.grid.count());
  const unsigned threads =
      launch.block.count() == 1 ? pool_.size() : std::min(pool_.size(), kMostThreadsWithFibres);
  const std::uint64_t piece = std::max<std::uint64_t>(1, blocks / (threads * kPiecesPerThread));
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> stuck{blocks};
  std::atomic<unsigned> stuck_on{0};

  const auto work = [&](unsigned number) {
    if (number >= threads) return;
    BlockRunner& runner = *runners_[number];
    runner.enter();
    runner.provide_dynamic_shared(launch.dynamic_shared_bytes);
    for (std::uint64_t first = 0; stuck == blocks && (first = next.fetch_add(piece)) < blocks;) {
      const std::uint64_t last = std::min(first + piece, blocks);
      const std::uint64_t done =
          launch.kernel(const_cast<void**>(launch.arguments.data()), extent(launch.grid),
                        extent(launch.block), first, last);
      std::uint64_t none = blocks;
      if (done < last && stuck.compare_exchange_strong(none, done)) stuck_on = number;
    }
  };
  if (blocks == 1) {
    work(0);
  } else {
    pool_.run(work);
  }
  if (stuck != blocks) throw_deadlock(launch, stuck, runners_[stuck_on]->deadlock());
}

void Launcher::run_nothing() {
  pool_.run([](unsigned) {});
}

}  // namespace autotune
