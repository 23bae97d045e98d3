// SPDX-License-Identifier: Apache-2.0
// Runs the blocks of a cluster on one host thread, and gives each its shared memory.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tuner/host/block_runner.hpp"
#include "tuner/host/shim/hooks.hpp"

namespace autotune {

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
