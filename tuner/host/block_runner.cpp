// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/block_runner.hpp"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <boost/context/detail/fcontext.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
// Boost.Context's switches without `fiber`. Destroying a `fiber` unwinds its suspended stack, and a
// kernel that is stuck at a barrier does not survive that.
namespace context = boost::context::detail;

namespace {

constexpr unsigned kWarp = 32;
constexpr std::size_t kGuardBytes = 4096;

}  // namespace

struct BlockRunner::Fibre {
  FibreStack stack;
  BlockRunner* runner = nullptr;
  context::fcontext_t context = nullptr;

  std::byte* top;

  /// Stacks start at different offsets. Otherwise they would all share a few cache sets.
  Fibre(BlockRunner* owner, std::size_t number) : runner(owner) {
    constexpr std::size_t kStep = 5 * 64, kRange = 64 << 10;
    top = static_cast<std::byte*>(stack.top()) - number * kStep % kRange;
    restart();
  }
  void restart() {
    stack.forget_frames();
    context = context::make_fcontext(top, FibreStack::kBytes / 2, &main);
  }

  static void main(context::transfer_t from) {
    auto& fibre = *static_cast<Fibre*>(from.data);
    for (;;) {
      fibre.runner->scheduler_ = from.fctx;
      fibre.runner->run_threads(fibre);
      from = context::jump_fcontext(fibre.runner->scheduler_, nullptr);
    }
  }
};

BlockRunner::BlockRunner(ThreadOrder order) : order_(order), copies_(1) {}
BlockRunner::~BlockRunner() = default;

void BlockRunner::begin(unsigned threads, Body body, void* context) {
  body_ = body;
  context_ = context;
  next_ = current_ = ended_ = arrived_ = 0;
  at_block_barrier_ = at_warp_barrier_ = at_cluster_ = 0;
  if (sequence_.size() != threads) {
    sequence_.resize(threads);
    std::iota(sequence_.begin(), sequence_.end(), 0u);
    if (order_ == ThreadOrder::reverse) std::ranges::reverse(sequence_);
    threads_.assign(threads, {});
    copies_.resize(std::max<std::size_t>(threads, 1));
    slots_.resize(threads);
    warps_.resize((threads + kWarp - 1) / kWarp);
  }
  warps_.assign(warps_.size(), {.waiting = 0, .alive = ~0u});
  if (threads % kWarp != 0) warps_.back().alive = (1u << threads % kWarp) - 1;
  if (order_ == ThreadOrder::random) std::ranges::shuffle(sequence_, random_);
}

bool BlockRunner::advance() {
  if (next_ < sequence_.size()) {
    start_threads();
    return true;
  }
  if (at_block_barrier_ > 0 && is_all(at_block_barrier_)) {
    release_block();
    return true;
  }
  // Both: threads that spin on a warp's barrier may wait for others.
  const bool released = at_warp_barrier_ > 0 && release_warps();
  return (at_cluster_ > 0 && release_cluster()) || released;
}

void BlockRunner::start_threads() {
  while (next_ < sequence_.size()) {
    if (idle_.empty()) {
      fibres_.push_back(std::make_unique<Fibre>(this, fibres_.size()));
      idle_.push_back(fibres_.back().get());
    }
    Fibre* const fibre = idle_.back();
    idle_.pop_back();
    resume(*fibre);
  }
}

/// Called on a fibre: runs threads until one waits, and that one to its end.
void BlockRunner::run_threads(Fibre& fibre) {
  while (next_ < sequence_.size()) {
    const unsigned thread = sequence_[next_++];
    current_ = thread;
    threads_[thread] = {Wait::none, Arrival::none, 0, &fibre};
    copies_[thread].drop();
    body_(context_, thread);
    if (threads_[thread].arrival == Arrival::phase_goes_on) --arrived_;
    threads_[thread].wait = Wait::ended;
    slots_[thread] = 0;  // it no longer votes
    warps_[thread / kWarp].alive &= ~(1u << thread % kWarp);
    ++ended_;
  }
  idle_.push_back(&fibre);
}

void BlockRunner::resume(Fibre& fibre) {
  fibre.context = context::jump_fcontext(fibre.context, &fibre).fctx;
}

void BlockRunner::resume_thread(unsigned thread) {
  current_ = thread;
  threads_[thread].wait = Wait::none;
  resume(*threads_[thread].fibre);
}

/// Called on a fibre.
void BlockRunner::wait(Wait kind, unsigned lanes) {
  Thread& thread = threads_[current_];
  thread.wait = kind;
  thread.lanes = lanes;
  if (kind == Wait::warp) warps_[current_ / kWarp].waiting |= 1u << current_ % kWarp;
  ++waiting(kind);
  scheduler_ = context::jump_fcontext(scheduler_, nullptr).fctx;
}

void BlockRunner::stop() { context::jump_fcontext(scheduler_, nullptr); }

unsigned& BlockRunner::waiting(Wait kind) {
  return kind == Wait::block  ? at_block_barrier_
         : kind == Wait::warp ? at_warp_barrier_
                              : at_cluster_;
}

/// A thread that arrives twice without a wait never continues. On a GPU this is undefined.
void BlockRunner::arrive_cluster() {
  Thread& thread = threads_[current_];
  if (thread.arrival == Arrival::none) {
    thread.arrival = Arrival::phase_goes_on;
    ++arrived_;
    return;
  }
  if (thread.arrival == Arrival::phase_goes_on) --arrived_;
  thread.arrival = Arrival::none;
  wait(Wait::cluster, 0);
}

void BlockRunner::wait_cluster() {
  if (threads_[current_].arrival != Arrival::phase_has_ended) wait(Wait::cluster, 0);
  threads_[current_].arrival = Arrival::none;
}

void BlockRunner::end_cluster_phase() {
  arrived_ = 0;
  for (Thread& thread : threads_) {
    if (thread.arrival == Arrival::phase_goes_on) thread.arrival = Arrival::phase_has_ended;
  }
}

bool BlockRunner::release_cluster() {
  bool released = false;
  for (const unsigned thread : sequence_) {
    if (threads_[thread].wait != Wait::cluster) continue;
    if (threads_[thread].arrival != Arrival::phase_has_ended) continue;
    --at_cluster_;
    released = true;
    resume_thread(thread);
  }
  return released;
}

void BlockRunner::release_block() {
  at_block_barrier_ = 0;
  if (order_ == ThreadOrder::random) std::ranges::shuffle(sequence_, random_);
  for (const unsigned thread : sequence_) {
    if (threads_[thread].wait != Wait::ended) resume_thread(thread);
  }
}

bool BlockRunner::release_warps() {
  bool released = false;
  for (unsigned warp = 0; warp < warps_.size(); ++warp) {
    // Continue with the next warp: a lane that waits alone waits for what others do.
    if (warps_[warp].waiting != 0 && release_warp(warp)) released = true;
  }
  return released;
}

/// Releases the lanes that wait for each other, once all have arrived. As on a GPU, they must name
/// the same lanes.
bool BlockRunner::release_warp(unsigned warp) {
  const Warp& state = warps_[warp];
  const Thread* const lanes = &threads_[warp * kWarp];
  bool released = false;
  for (unsigned left = state.waiting; left != 0;) {
    const unsigned named = lanes[std::countr_zero(left)].lanes;
    unsigned come = left & -left;
    for (unsigned rest = state.waiting & named; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      come |= static_cast<unsigned>(lanes[lane].lanes == named) << lane;
    }
    left &= ~come;
    if ((named & state.alive) != come) continue;
    release_lanes(warp, come);
    released = true;
  }
  return released;
}

void BlockRunner::release_lanes(unsigned warp, unsigned group) {
  at_warp_barrier_ -= static_cast<unsigned>(std::popcount(group));
  warps_[warp].waiting &= ~group;
  while (group != 0) {
    const int lane =
        order_ == ThreadOrder::reverse ? 31 - std::countl_zero(group) : std::countr_zero(group);
    group &= ~(1u << lane);
    resume_thread(warp * kWarp + static_cast<unsigned>(lane));
  }
}

void BlockRunner::abandon() {
  idle_.clear();
  for (const auto& fibre : fibres_) {
    fibre->restart();
    idle_.push_back(fibre.get());
  }
  current_ = 0;
}

FibreStack::FibreStack()
    : bottom_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0)) {
  if (bottom_ == MAP_FAILED) {
    throw Error(format("no memory for the stack of a thread of a block: {}", std::strerror(errno)));
  }
  mprotect(bottom_, kGuardBytes, PROT_NONE);
}

FibreStack::~FibreStack() {
  forget_frames();
  munmap(bottom_, kBytes);
}

void FibreStack::forget_frames() { ASAN_UNPOISON_MEMORY_REGION(bottom_, kBytes); }

}  // namespace autotune
