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
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/host/host_module.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

thread_local ClusterRunner* t_runner = nullptr;

}  // namespace

// Boost.Context's switches without `fiber`. Destroying a `fiber` unwinds its suspended stack, and a
// kernel that is stuck at a barrier does not survive that.
namespace context = boost::context::detail;

namespace {

constexpr unsigned kWarp = 32;

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

namespace {

constexpr std::size_t kGuardBytes = 4096;

}  // namespace

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

/// The functions behind the hooks.
struct ClusterRunner::Calls {
  static BlockRunner& threads() { return t_runner->current_->threads; }
  static bool run_cluster(const autotune_host::ClusterWork& work) { return t_runner->run(work); }
  static void wait_block() { threads().wait_block(); }
  static void wait_warp(unsigned lanes) { threads().wait_warp(lanes); }
  static void arrive_cluster() { threads().arrive_cluster(); }
  static void wait_cluster() { threads().wait_cluster(); }
  static void* in_block(const void* shared, unsigned rank) {
    return t_runner->in_block(shared, rank);
  }
  static unsigned long long* slots() { return threads().slots(); }
  static void* dynamic_shared() { return t_runner->dynamic_shared(); }
  static void copy(void* to, const void* from, unsigned bytes, unsigned zeros) {
    threads().copies().add(to, from, bytes, zeros);
  }
  static void commit_copies() { threads().copies().commit(); }
  static void wait_copies(unsigned groups_left) { threads().copies().wait(groups_left); }
  static void drop_copies() { threads().copies().drop(); }
  static void stray(const autotune_host::StrayAccess& access, const void* at, bool alone) {
    t_runner->keep(access, at);
    if (!alone) threads().stop();
  }
};

const autotune_host::Hooks& ClusterRunner::hooks() {
  static constexpr autotune_host::Hooks kHooks = {
      &Calls::run_cluster,  &Calls::wait_block,    &Calls::wait_warp,   &Calls::arrive_cluster,
      &Calls::wait_cluster, &Calls::in_block,      &Calls::slots,       &Calls::dynamic_shared,
      &Calls::copy,         &Calls::commit_copies, &Calls::wait_copies, &Calls::drop_copies,
      &Calls::stray};
  return kHooks;
}

ClusterRunner::ClusterRunner(ThreadOrder order) : order_(order) {}
ClusterRunner::~ClusterRunner() = default;

std::span<std::byte> ClusterRunner::bytes_of(std::vector<Line>& lines) {
  return {lines.data()->bytes, lines.size() * sizeof(Line)};
}

namespace {

/// Of a zone. Behind the second one there is more memory, so that most kernels that write too far
/// do not end the process.
constexpr std::size_t kZoneBytes = 1024, kBehindZones = 64 << 10;
constexpr std::byte kZoneByte{0xFF};  // numbers that are read there are NaN

}  // namespace

std::span<std::byte> ClusterRunner::dynamic_of(Block& block) const {
  return bytes_of(block.dynamic).subspan(kZoneBytes, dynamic_bytes_);
}

std::array<std::span<std::byte>, 2> ClusterRunner::zones_of(Block& block) const {
  const std::span<std::byte> all = bytes_of(block.dynamic);
  return {all.first(kZoneBytes), all.subspan(kZoneBytes + dynamic_bytes_, kZoneBytes)};
}

/// Kernels without such memory cost nothing here.
void* ClusterRunner::dynamic_shared() {
  if (!current_->has_zones) {
    current_->has_zones = true;
    std::ranges::fill(bytes_of(current_->dynamic).first(dynamic_bytes_ + 2 * kZoneBytes),
                      kZoneByte);
  }
  return dynamic_of(*current_).data();
}

std::optional<std::ptrdiff_t> ClusterRunner::stray_byte() {
  std::optional<std::ptrdiff_t> stray;
  for (const auto& block : blocks_) {
    if (!std::exchange(block->has_zones, false)) continue;
    for (const auto& zone : zones_of(*block)) {
      const auto changed =
          std::ranges::find_if(zone, [](std::byte each) { return each != kZoneByte; });
      if (changed != zone.end()) stray = &*changed - dynamic_of(*block).data();
    }
  }
  return stray;
}

namespace {

/// By parts of their names, of which the first that fits counts.
constexpr std::array<std::pair<std::string_view, int>, 7> kBytesOfTypes = {{{"char", 1},
                                                                            {"bool", 1},
                                                                            {"short", 2},
                                                                            {"float'", 4},
                                                                            {"double'", 8},
                                                                            {"long", 8},
                                                                            {"int'", 4}}};

}  // namespace

void ClusterRunner::keep(const autotune_host::StrayAccess& access, const void* at) {
  if (!stray_access_.empty()) return;
  const std::string_view type = access.type->name;
  const auto known = std::ranges::find_if(
      kBytesOfTypes, [&](const auto& each) { return type.find(each.first) != type.npos; });
  const std::int64_t bytes = known == kBytesOfTypes.end() ? 1 : known->second;
  const auto array = module_->shared_variable(at);
  stray_access_ = format("{} ", access.kind == 1 ? "writes" : "reads");
  if (array) {
    stray_access_ += format("{} {} of {}, a shared array of {}", bytes == 1 ? "byte" : "element",
                            array->at / bytes, array->name, array->bytes / bytes);
  } else {
    stray_access_ += format("outside of an array of {}", type);
  }
  stray_access_ += format(" ({}:{})", access.file, access.line);
}

void ClusterRunner::provide(std::vector<Line>& lines, std::size_t bytes) {
  const std::size_t count = bytes / sizeof(Line) + 1;
  if (lines.size() < count) lines.resize(count);
}

void ClusterRunner::enter(const HostModule& module, unsigned blocks,
                          std::size_t dynamic_shared_bytes) {
  t_runner = this;
  module_ = &module;
  stray_access_.clear();
  is_painted_ = false;
  dynamic_bytes_ = dynamic_shared_bytes;
  while (blocks_.size() < blocks) blocks_.push_back(std::make_unique<Block>(order_));
  for (unsigned rank = 0; rank < blocks; ++rank) {
    provide(blocks_[rank]->dynamic, dynamic_shared_bytes + 2 * kZoneBytes + kBehindZones);
    blocks_[rank]->has_zones = false;
  }
  current_ = blocks_.front().get();
  sequence_.resize(blocks);
  std::iota(sequence_.begin(), sequence_.end(), 0u);
  if (order_ == ThreadOrder::reverse) std::ranges::reverse(sequence_);
}

bool ClusterRunner::run(const autotune_host::ClusterWork& work) {
  begin(work);
  const auto has_ended = [this](unsigned rank) { return blocks_[rank]->threads.has_ended(); };
  while (!std::ranges::all_of(sequence_, has_ended)) {
    const bool advanced = advance();
    if (end_phase() || advanced) continue;
    give_up();
    return false;
  }
  return true;
}

void ClusterRunner::begin(const autotune_host::ClusterWork& work) {
  const auto blocks = static_cast<unsigned>(sequence_.size());
  if (!std::exchange(is_painted_, true)) {
    for (const std::span<std::byte> each : module_->shared_variables()) {
      std::ranges::fill(each, kZoneByte);
    }
  }
  if (blocks > 1) {
    statics_ = module_->thread_local_bytes();
    for (unsigned rank = 0; rank < blocks; ++rank) {
      provide(blocks_[rank]->statics, statics_.size());
      std::memcpy(blocks_[rank]->statics.data(), statics_.data(), statics_.size());
    }
  }
  for (unsigned rank = 0; rank < blocks; ++rank) {
    switch_to(*blocks_[rank]);
    work.enter(rank);
    current_->threads.begin(work.threads, work.body, work.context);
  }
}

/// One turn of each block. False if none could continue. A block runs ahead of the others as far as
/// it can, so that a kernel that lacks a barrier is wrong in some order. Turns have an end all the
/// same, because threads may spin until another block stores something.
bool ClusterRunner::advance() {
  bool advanced = false;
  if (order_ == ThreadOrder::random) std::ranges::shuffle(sequence_, random_);
  for (const unsigned rank : sequence_) {
    Block& block = *blocks_[rank];
    if (block.threads.has_ended()) continue;
    switch_to(block);
    for (unsigned left = steps_of_turn(); left > 0 && block.threads.advance(); --left) {
      advanced = true;
    }
  }
  return advanced;
}

unsigned ClusterRunner::steps_of_turn() {
  constexpr unsigned kMostBits = 10;
  return 1u << (order_ == ThreadOrder::random ? random_() % (kMostBits + 1) : kMostBits);
}

/// Ends the phase of the cluster's barrier once all threads have arrived, and returns whether it
/// did.
bool ClusterRunner::end_phase() {
  unsigned arrived = 0;
  for (const unsigned rank : sequence_) {
    const BlockRunner& threads = blocks_[rank]->threads;
    if (!threads.have_all_arrived()) return false;
    arrived += threads.arrived();
  }
  if (arrived == 0) return false;
  for (const unsigned rank : sequence_) blocks_[rank]->threads.end_cluster_phase();
  return true;
}

void ClusterRunner::switch_to(Block& block) {
  if (current_ == &block) return;
  std::memcpy(current_->statics.data(), statics_.data(), statics_.size());
  std::memcpy(statics_.data(), block.statics.data(), statics_.size());
  current_ = &block;
}

/// Remembers the block that the others wait for, if there is one: of its threads the fewest wait at
/// the cluster's barrier.
void ClusterRunner::give_up() {
  bool found = false;
  for (unsigned rank = 0; rank < sequence_.size(); ++rank) {
    BlockRunner& threads = blocks_[rank]->threads;
    Deadlock state = threads.state();
    state.rank = rank;
    const bool is_less = !found || state.at_cluster_barrier < deadlock_.at_cluster_barrier;
    if (!threads.has_ended() && is_less) {
      deadlock_ = state;
      found = true;
    }
    threads.abandon();
  }
}

/// The other block's copy of a shared variable of the current block. nullptr if there is none.
void* ClusterRunner::in_block(const void* shared, unsigned rank) {
  if (rank >= sequence_.size()) return nullptr;
  Block& there = *blocks_[rank];
  if (&there == current_) return const_cast<void*>(shared);
  const auto moved = [&](std::span<std::byte> from, std::span<std::byte> to) -> void* {
    const auto offset = static_cast<const std::byte*>(shared) - from.data();
    return offset >= 0 && offset < std::ssize(from) ? to.data() + offset : nullptr;
  };
  if (void* const found = moved(dynamic_of(*current_), dynamic_of(there))) return found;
  return moved(statics_, bytes_of(there.statics));
}

}  // namespace autotune
