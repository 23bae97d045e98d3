// SPDX-License-Identifier: Apache-2.0
// Packets between ranks by MPI, so that the death of a rank harms no other: point to point, without
// waiting, and no collective call after the start.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <set>

#include "tuner/ranks/messages.hpp"

namespace autotune {

class MpiTransport final : public Transport {
 public:
  /// Starts MPI, which may take what is its own out of the arguments.
  MpiTransport(int& argc, char**& argv);
  ~MpiTransport() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  /// Of the ranks with devices on this host: the number of this one, and how many they are.
  int local_rank() const { return local_rank_; }
  int local_size() const { return local_size_; }

  /// Throws Error if the packet is larger than MPI takes. After a transfer with a rank has failed,
  /// nothing more goes to it or comes from it: it counts as silent, so that no rank goes on without
  /// a packet that it does not know of.
  void send(int to, std::string bytes) override;
  std::optional<Packet> receive() override;

  /// Waits until what was sent has gone, for a few seconds at most.
  void flush();
  /// Shuts MPI down, which needs every rank. After a few seconds `at_limit` is called in another
  /// thread; it must end the process.
  void finalize(std::function<void()> at_limit);

 private:
  struct Transfer;
  void find_neighbours();
  void drop_sent();
  void accept_arrivals();

  int rank_ = 0, size_ = 1;
  int local_rank_ = 0, local_size_ = 1;
  std::list<std::unique_ptr<Transfer>> sending_, receiving_;
  std::set<int> cut_off_;  // ranks
};

}  // namespace autotune
