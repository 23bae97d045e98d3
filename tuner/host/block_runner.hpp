// SPDX-License-Identifier: Apache-2.0
// Runs the threads of a block on one host thread. They run one after the other, and as fibres from
// the first barrier on.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "tuner/host/fibre_stack.hpp"
#include "tuner/host/pending_copies.hpp"
#include "tuner/host/shim/hooks.hpp"

namespace autotune {

/// The order in which the threads of a block run between barriers. A kernel that lacks a barrier
/// may be right by luck in one order, but hardly in all.
enum class ThreadOrder : std::uint8_t { forward, reverse, random };

/// The state of a deadlocked block: some threads wait while others have ended or wait elsewhere.
struct Deadlock {
  unsigned at_block_barrier = 0, at_warp_barrier = 0, ended = 0;
};

class BlockRunner {
 public:
  using Body = void (*)(void* context, unsigned thread);

  explicit BlockRunner(ThreadOrder order);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  /// Allocates dynamic shared memory, 64-byte aligned, for dynamic_shared().
  void provide_dynamic_shared(std::size_t bytes);

  /// Directs all hooks on this host thread to this runner.
  void enter();
  static const autotune_host::Hooks& hooks();

  /// Runs body(context, 0 … threads-1). Returns false on a deadlock; see deadlock().
  bool run(unsigned threads, Body body, void* context);
  const Deadlock& deadlock() const { return deadlock_; }

 private:
  struct Fibre;
  struct Calls;
  enum class Wait : std::uint8_t { none, block, warp, ended };
  struct Thread {
    Wait wait = Wait::none;
    unsigned lanes = 0;
    Fibre* fibre = nullptr;
  };

  void prepare(unsigned threads, Body body, void* context);
  void start_threads();
  void run_threads(Fibre& fibre);
  void resume(Fibre& fibre);
  void resume_thread(unsigned thread);
  void wait(Wait kind, unsigned lanes);
  void release_block();
  bool release_warps();
  bool release_warp(unsigned first);
  void release_lanes(unsigned first, unsigned group);
  void abandon();

  const ThreadOrder order_;
  std::minstd_rand random_;
  std::vector<unsigned> sequence_;  // thread numbers
  std::vector<Thread> threads_;
  std::vector<PendingCopies> copies_;  // one per thread
  std::vector<unsigned long long> slots_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Fibre*> idle_;
  std::unique_ptr<std::byte[]> dynamic_;
  std::size_t dynamic_bytes_ = 0;
  void* dynamic_start_ = nullptr;

  Body body_ = nullptr;
  void* context_ = nullptr;
  unsigned next_ = 0;  // the next of sequence_ to start
  unsigned current_ = 0;
  unsigned at_block_barrier_ = 0, at_warp_barrier_ = 0, ended_ = 0;
  void* scheduler_ = nullptr;  // a waiting fibre switches to this
  Deadlock deadlock_;
};

}  // namespace autotune
