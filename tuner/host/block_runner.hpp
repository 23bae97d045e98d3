// SPDX-License-Identifier: Apache-2.0
// Runs the threads of a block on one host thread. They run one after the other, and as fibres from
// the first barrier on. As on GPUs from compute capability 7.0 on, no barrier waits for threads
// that have ended: not the block's, not a warp's, not the cluster's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tuner/host/shim/hooks.hpp"

namespace autotune {

/// The stack of a fibre, with a guard page below it.
class FibreStack {
 public:
  /// The 512 KiB of local memory that a thread has on GPUs, beside it the range in which stacks
  /// start and the frames of the functions around a kernel. Untouched pages cost nothing.
  static constexpr std::size_t kBytes = 704 << 10;

  /// Throws Error if there is no memory.
  FibreStack();
  ~FibreStack();
  FibreStack(const FibreStack&) = delete;
  FibreStack& operator=(const FibreStack&) = delete;

  /// The upper end; stacks grow down.
  void* top() const { return static_cast<std::byte*>(bottom_) + kBytes; }

  /// Call this before abandoning functions on the stack. Otherwise AddressSanitizer keeps the red
  /// zones of their variables, and reports the next function that uses these addresses.
  void forget_frames();

 private:
  void* bottom_;
};

/// Asynchronous copies of one thread of a block. They run in the wait, as late as CUDA allows. So a
/// kernel that forgets to wait reads stale values on the host, too.
class PendingCopies {
 public:
  void add(void* to, const void* from, unsigned bytes, unsigned zeros) {
    copies_.push_back({to, from, bytes, zeros});
  }

  /// Ends a group: all copies since the last one.
  void commit() { groups_.push_back(copies_.size()); }

  /// Runs the copies of all groups but the newest `groups_left`.
  void wait(std::size_t groups_left) {
    if (groups_.size() <= groups_left) return;
    const std::size_t groups = groups_.size() - groups_left, count = groups_[groups - 1];
    for (std::size_t i = 0; i < count; ++i) make(copies_[i]);
    copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(count));
    groups_.erase(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(groups));
    for (std::size_t& end : groups_) end -= count;
  }

  void drop() {
    copies_.clear();
    groups_.clear();
  }

 private:
  struct Copy {
    void* to;
    const void* from;
    unsigned bytes, zeros;
  };

  static void make(const Copy& copy) {
    std::memcpy(copy.to, copy.from, copy.bytes);
    std::memset(static_cast<char*>(copy.to) + copy.bytes, 0, copy.zeros);
  }

  std::vector<Copy> copies_;
  std::vector<std::size_t> groups_;  // the end of each in copies_
};

/// The order in which the threads of a block run between barriers. A kernel that lacks a barrier
/// may be right by luck in one order, but hardly in all.
enum class ThreadOrder : std::uint8_t { forward, reverse, random };

/// What the threads of a block that cannot continue do.
struct Deadlock {
  unsigned rank = 0;  // of the block in its cluster
  unsigned at_block_barrier = 0, at_warp_barrier = 0, at_cluster_barrier = 0, ended = 0;
};

class BlockRunner {
 public:
  using Body = void (*)(void* context, unsigned thread);

  explicit BlockRunner(ThreadOrder order);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  /// Prepares body(context, 0 … threads-1).
  void begin(unsigned threads, Body body, void* context);
  /// Lets threads run until all of them wait or have ended. False if none could continue.
  bool advance();
  bool has_ended() const { return ended_ == threads_.size(); }

  /// Of the phase of the cluster's barrier: threads that have arrived, and whether all have.
  unsigned arrived() const { return arrived_; }
  bool have_all_arrived() const { return is_all(arrived_); }
  /// Lets threads that have arrived pass.
  void end_cluster_phase();

  Deadlock state() const { return {0, at_block_barrier_, at_warp_barrier_, at_cluster_, ended_}; }
  /// Leaves the running thread, which never continues.
  void stop();
  /// Abandons the threads that can never continue, so that their stacks can be used again.
  void abandon();

  // What the running thread calls.
  void wait_block() { wait(Wait::block, 0); }
  void wait_warp(unsigned lanes) { wait(Wait::warp, lanes); }
  void arrive_cluster();
  void wait_cluster();
  unsigned long long* slots() { return slots_.data(); }
  PendingCopies& copies() { return copies_[current_]; }

 private:
  struct Fibre;
  enum class Wait : std::uint8_t { none, block, warp, cluster, ended };
  /// From arriving at the cluster's barrier to the end of the wait.
  enum class Arrival : std::uint8_t { none, phase_goes_on, phase_has_ended };
  struct Thread {
    Wait wait = Wait::none;
    Arrival arrival = Arrival::none;
    unsigned lanes = 0;
    Fibre* fibre = nullptr;
  };
  /// Its lanes, a bit each.
  struct Warp {
    unsigned waiting = 0;  // at a barrier of the warp
    unsigned alive = 0;    // that have not ended
  };

  void start_threads();
  void run_threads(Fibre& fibre);
  void resume(Fibre& fibre);
  void resume_thread(unsigned thread);
  void wait(Wait kind, unsigned lanes);
  unsigned& waiting(Wait kind);
  /// Whether these are all threads that have not ended.
  bool is_all(unsigned threads) const { return threads + ended_ == threads_.size(); }
  void release_block();
  bool release_warps();
  bool release_warp(unsigned warp);
  void release_lanes(unsigned warp, unsigned group);
  bool release_cluster();

  const ThreadOrder order_;
  std::minstd_rand random_;
  std::vector<unsigned> sequence_;  // thread numbers
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<PendingCopies> copies_;  // one per thread
  std::vector<unsigned long long> slots_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Fibre*> idle_;

  Body body_ = nullptr;
  void* context_ = nullptr;
  unsigned next_ = 0;  // the next of sequence_ to start
  unsigned current_ = 0;
  unsigned at_block_barrier_ = 0, at_warp_barrier_ = 0, at_cluster_ = 0, ended_ = 0;
  unsigned arrived_ = 0;       // at the cluster's barrier; those that have ended are not counted
  void* scheduler_ = nullptr;  // a waiting fibre switches to this
};

// Runs the blocks of a cluster on one host thread, and gives each its shared memory.

class HostModule;

/// Runs the blocks of a cluster on one host thread, by turns, each with its own shared memory. A
/// launch without clusters has clusters of one block.
class ClusterRunner {
 public:
  explicit ClusterRunner(ThreadOrder order);
  ~ClusterRunner();

  /// The functions that kernels call. They act on the runner of the host thread.
  static const autotune_host::Hooks& hooks();

  /// Directs all hooks on this host thread to this runner, for a launch of a kernel of the module.
  void enter(const HostModule& module, unsigned blocks, std::size_t dynamic_shared_bytes);

  /// Of the cluster that deadlocked last.
  const Deadlock& deadlock() const { return deadlock_; }

  /// Where blocks wrote outside of their dynamic shared memory since enter(), in bytes from its
  /// start; nullopt if none did.
  std::optional<std::ptrdiff_t> stray_byte();
  /// The first access outside of an array since enter(), in words; empty if there was none.
  const std::string& stray_access() const { return stray_access_; }

 private:
  struct Calls;
  /// Keeps vectors of it aligned as shared variables are.
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  struct Block {
    explicit Block(ThreadOrder order) : threads(order) {}
    BlockRunner threads;
    std::vector<Line> dynamic, statics;  // dynamic: between zones that kernels must not write
    bool has_zones = false;
  };

  static std::span<std::byte> bytes_of(std::vector<Line>& lines);
  std::span<std::byte> dynamic_of(Block& block) const;
  std::array<std::span<std::byte>, 2> zones_of(Block& block) const;
  void* dynamic_shared();
  static void provide(std::vector<Line>& lines, std::size_t bytes);
  bool run(const autotune_host::ClusterWork& work);
  void begin(const autotune_host::ClusterWork& work);
  bool advance();
  unsigned steps_of_turn();
  bool end_phase();
  void switch_to(Block& block);
  void give_up();
  void* in_block(const void* shared, unsigned rank);
  void keep(const autotune_host::StrayAccess& access, const void* at);

  const ThreadOrder order_;
  std::minstd_rand random_;
  std::vector<std::unique_ptr<Block>> blocks_;  // by rank
  std::vector<unsigned> sequence_;              // ranks
  Block* current_ = nullptr;
  /// The static shared memory of all blocks, one after the other: the host thread's thread-local
  /// variables of the module. The other blocks have theirs in Block::statics.
  std::span<std::byte> statics_;
  const HostModule* module_ = nullptr;
  std::size_t dynamic_bytes_ = 0;
  bool is_painted_ = false;  // shared memory, since enter()
  Deadlock deadlock_;
  std::string stray_access_;
};

}  // namespace autotune
