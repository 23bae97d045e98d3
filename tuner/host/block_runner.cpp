// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/block_runner.hpp"

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <numeric>
#include <span>

namespace autotune {

// Boost.Context's switches without `fiber`. Destroying a `fiber` unwinds its suspended stack, and a
// kernel that is stuck at a barrier does not survive that.
namespace context = boost::context::detail;

namespace {

constexpr unsigned kWarp = 32;

thread_local BlockRunner* t_runner = nullptr;

/// One bit each.
template <class Threads, class Condition>
unsigned lanes_where(const Threads& warp, const Condition& condition) {
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < warp.size(); ++lane) {
    lanes |= static_cast<unsigned>(condition(warp[lane])) << lane;
  }
  return lanes;
}

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

/// The functions behind the hooks.
struct BlockRunner::Calls {
  static bool run_block(unsigned threads, Body body, void* context) {
    return t_runner->run(threads, body, context);
  }
  static void wait_block() { t_runner->wait(Wait::block, 0); }
  static void wait_warp(unsigned lanes) { t_runner->wait(Wait::warp, lanes); }
  static unsigned long long* slots() { return t_runner->slots_.data(); }
  static void* dynamic_shared() { return t_runner->dynamic_start_; }
  static PendingCopies& copies() { return t_runner->copies_[t_runner->current_]; }
  static void copy(void* to, const void* from, unsigned bytes, unsigned zeros) {
    copies().add(to, from, bytes, zeros);
  }
  static void commit_copies() { copies().commit(); }
  static void wait_copies(unsigned groups_left) { copies().wait(groups_left); }
  static void drop_copies() { copies().drop(); }
};

const autotune_host::Hooks& BlockRunner::hooks() {
  static constexpr autotune_host::Hooks kHooks = {
      &Calls::run_block,     &Calls::wait_block,     &Calls::wait_warp,
      &Calls::slots,         &Calls::dynamic_shared, &Calls::copy,
      &Calls::commit_copies, &Calls::wait_copies,    &Calls::drop_copies};
  return kHooks;
}

BlockRunner::BlockRunner(ThreadOrder order) : order_(order), copies_(1) {}
BlockRunner::~BlockRunner() = default;

void BlockRunner::provide_dynamic_shared(std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  if (bytes > dynamic_bytes_ || dynamic_ == nullptr) {
    dynamic_ = std::make_unique<std::byte[]>(bytes + kAlignment);
    dynamic_bytes_ = bytes;
    const auto address = reinterpret_cast<std::uintptr_t>(dynamic_.get());
    dynamic_start_ = dynamic_.get() + (kAlignment - address % kAlignment);
  }
}

void BlockRunner::enter() {
  t_runner = this;
  current_ = 0;
}

bool BlockRunner::run(unsigned threads, Body body, void* context) {
  prepare(threads, body, context);
  start_threads();
  while (ended_ < threads) {
    if (at_block_barrier_ == threads) {
      release_block();
    } else if (at_warp_barrier_ == 0 || !release_warps()) {
      deadlock_ = {at_block_barrier_, at_warp_barrier_, ended_};
      abandon();
      return false;
    }
  }
  current_ = 0;
  return true;
}

void BlockRunner::prepare(unsigned threads, Body body, void* context) {
  body_ = body;
  context_ = context;
  next_ = at_block_barrier_ = at_warp_barrier_ = ended_ = 0;
  if (sequence_.size() != threads) {
    sequence_.resize(threads);
    std::iota(sequence_.begin(), sequence_.end(), 0u);
    if (order_ == ThreadOrder::reverse) std::ranges::reverse(sequence_);
    threads_.assign(threads, {});
    copies_.resize(std::max<std::size_t>(threads, 1));
    slots_.resize(threads);
  }
  if (order_ == ThreadOrder::random) std::ranges::shuffle(sequence_, random_);
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
    threads_[thread] = {Wait::none, 0, &fibre};
    copies_[thread].drop();
    body_(context_, thread);
    threads_[thread].wait = Wait::ended;
    slots_[thread] = 0;  // it no longer votes
    ++ended_;
  }
  idle_.push_back(&fibre);
}

void BlockRunner::resume(Fibre& fibre) {
  fibre.context = context::jump_fcontext(fibre.context, &fibre).fctx;
}

void BlockRunner::resume_thread(unsigned thread) {
  current_ = thread;
  resume(*threads_[thread].fibre);
}

/// Called on a fibre.
void BlockRunner::wait(Wait kind, unsigned lanes) {
  Thread& thread = threads_[current_];
  thread.wait = kind;
  thread.lanes = lanes;
  ++(kind == Wait::block ? at_block_barrier_ : at_warp_barrier_);
  scheduler_ = context::jump_fcontext(scheduler_, nullptr).fctx;
}

void BlockRunner::release_block() {
  at_block_barrier_ = 0;
  if (order_ == ThreadOrder::random) std::ranges::shuffle(sequence_, random_);
  for (const unsigned thread : sequence_) {
    threads_[thread].wait = Wait::none;
    resume_thread(thread);
  }
}

bool BlockRunner::release_warps() {
  bool released = false;
  for (unsigned first = 0; first < threads_.size(); first += kWarp) {
    // Continue with the next warp: a lane that waits alone waits for what others do.
    if (at_warp_barrier_ > 0 && release_warp(first)) released = true;
  }
  return released;
}

/// Releases the lanes that wait for each other, once all have arrived. As on a GPU, they must name
/// the same lanes, and lanes that have ended are not waited for.
bool BlockRunner::release_warp(unsigned first) {
  const unsigned count = std::min<unsigned>(kWarp, static_cast<unsigned>(threads_.size()) - first);
  const std::span warp(threads_.data() + first, count);
  bool released = false;
  unsigned tried = 0;
  for (unsigned lane = 0; lane < count; ++lane) {
    if (warp[lane].wait != Wait::warp || (tried >> lane & 1) != 0) continue;
    const unsigned named = warp[lane].lanes;
    const unsigned group =
        named & lanes_where(warp, [](const Thread& other) { return other.wait != Wait::ended; });
    const unsigned come = lanes_where(warp, [named](const Thread& other) {
      return other.wait == Wait::warp && other.lanes == named;
    });
    tried |= come;
    if (group != come) continue;
    release_lanes(first, group);
    released = true;
  }
  return released;
}

void BlockRunner::release_lanes(unsigned first, unsigned group) {
  at_warp_barrier_ -= static_cast<unsigned>(__builtin_popcount(group));
  for (unsigned i = 0; i < kWarp; ++i) {
    if ((group >> i & 1) != 0) threads_[first + i].wait = Wait::none;
  }
  for (unsigned i = 0; i < kWarp; ++i) {
    const unsigned lane = order_ == ThreadOrder::reverse ? kWarp - 1 - i : i;
    if ((group >> lane & 1) != 0) resume_thread(first + lane);
  }
}

/// Abandons the threads that can never continue, so that their stacks can be used again.
void BlockRunner::abandon() {
  idle_.clear();
  for (const auto& fibre : fibres_) {
    fibre->restart();
    idle_.push_back(fibre.get());
  }
  current_ = 0;
}

}  // namespace autotune
