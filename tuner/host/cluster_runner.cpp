// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/block_runner.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tuner/host/host_module.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

thread_local ClusterRunner* t_runner = nullptr;

}  // namespace

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
