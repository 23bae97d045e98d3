// SPDX-License-Identifier: Apache-2.0
// What rank 0 knows of the other ranks.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "tuner/ranks/lead_group.hpp"
#include "tuner/ranks/messages.hpp"

namespace autotune {

struct KnownRank {
  enum class State { starting, idle, busy, gone, lost };

  State state = State::starting;
  double heard = 0;  // when its last message came
  Hello hello;
  LeadGroup* group = nullptr;
  LeadOrder order;
  std::set<std::size_t> lessons;  // that it knows
  bool is_present = false;        // it has answered the roll call
  Done last;                      // its statistics

  /// It takes part: neither gone nor lost.
  bool is_here() const { return state != State::gone && state != State::lost; }
};

/// The ranks from 1 on.
class Roster {
 public:
  /// `size` counts rank 0.
  Roster(int size, double now);

  KnownRank& at(int number) { return ranks_.at(static_cast<std::size_t>(number - 1)); }
  int number_of(const KnownRank& rank) const { return static_cast<int>(&rank - ranks_.data()) + 1; }
  /// "rank 2 on n1"
  std::string label(const KnownRank& rank) const;

  auto begin() { return ranks_.begin(); }
  auto end() { return ranks_.end(); }
  auto begin() const { return ranks_.begin(); }
  auto end() const { return ranks_.end(); }

  bool has(KnownRank::State state) const;
  bool has_anyone() const;
  /// Ranks of a group that take part.
  std::size_t active(const LeadGroup& group) const;
  /// Ranks that take part on the host of one, itself included.
  std::size_t neighbours(const KnownRank& rank) const;
  /// Another rank that uses the same device, or nullptr.
  const KnownRank* rival_for_device(const KnownRank& rank) const;
  /// Processes on `host` of lost ranks, and of those that take part.
  std::vector<std::string> lost_processes(const std::string& host) const;
  std::vector<std::string> present_processes(const std::string& host) const;

 private:
  std::vector<KnownRank> ranks_;  // rank i + 1
};

}  // namespace autotune
