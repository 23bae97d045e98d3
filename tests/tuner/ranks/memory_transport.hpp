// SPDX-License-Identifier: Apache-2.0
// Ranks in one process: packets in memory.
#pragma once

#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "tuner/ranks/messages.hpp"

namespace autotune::testing {

/// The packets of all ranks. Thread-safe.
class PostOffice {
 public:
  explicit PostOffice(int ranks) : boxes_(static_cast<std::size_t>(ranks)) {}

  int size() const { return static_cast<int>(boxes_.size()); }
  void put(int to, Packet packet) {
    const std::lock_guard lock(mutex_);
    boxes_.at(static_cast<std::size_t>(to)).push_back(std::move(packet));
  }
  std::optional<Packet> take(int rank) {
    const std::lock_guard lock(mutex_);
    auto& box = boxes_.at(static_cast<std::size_t>(rank));
    if (box.empty()) return std::nullopt;
    Packet packet = std::move(box.front());
    box.pop_front();
    return packet;
  }

 private:
  std::mutex mutex_;
  std::vector<std::deque<Packet>> boxes_;
};

class MemoryTransport final : public Transport {
 public:
  MemoryTransport(PostOffice& office, int rank) : office_(office), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return office_.size(); }
  void send(int to, std::string bytes) override { office_.put(to, {rank_, std::move(bytes)}); }
  std::optional<Packet> receive() override { return office_.take(rank_); }

 private:
  PostOffice& office_;
  const int rank_;
};

}  // namespace autotune::testing
