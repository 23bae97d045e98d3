// SPDX-License-Identifier: Apache-2.0
// The problems of the ranks with one kind of device, as rank 0 sees them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/value.hpp"
#include "tuner/ranks/messages.hpp"
#include "tuner/session/tuning_request.hpp"
#include "tuner/session/work_queue.hpp"

namespace autotune {

/// What tuned problems teach the others, kept by rank 0 as text.
class Lessons {
 public:
  void add(const NamedValues& problem, std::string text);
  /// The lessons of the problems nearest to this one, less those in `known`, which are added to it.
  std::vector<std::string> about(const NamedValues& problem, std::set<std::size_t>& known) const;

 private:
  std::vector<NamedValues> problems_;
  std::vector<std::string> texts_;
};

/// What a rank was told: the problem that it tunes, and those that it prepares.
struct LeadOrder {
  std::optional<std::size_t> problem;
  std::vector<std::size_t> ahead;
};

class LeadGroup {
 public:
  LeadGroup(const Target& target, db::TunedStore& store, const DeviceInfo& device,
            TuningRequest request);

  const DeviceInfo& device() const { return device_; }
  const TuningRequest& request() const { return request_; }
  const Problem& problem(std::size_t number) const { return request_.problems.at(number); }
  bool has_waiting() const { return queue_.waiting() > 0; }
  std::size_t unfinished() const { return queue_.unfinished(); }

  /// The next problem, if one waits, for a rank with this order; `devices` share the problems.
  /// Problems that another rank prepares come last.
  std::optional<Order> next_order(LeadOrder& order, std::set<std::size_t>& lessons,
                                  std::size_t devices);
  /// What the database has about a problem: rows as JSON lines.
  std::string facts_about(std::size_t number) const;

  void finish(std::size_t number, ProblemReport report, std::string lesson);
  /// The problem waits again. False at its second time.
  bool give_back(LeadOrder& order);

  const std::map<std::size_t, ProblemReport>& reports() const { return reports_; }

 private:
  void choose_ahead(LeadOrder& order);

  const Target& target_;
  db::TunedStore& store_;
  const DeviceInfo device_;
  const TuningRequest request_;
  const std::string device_id_, kernel_id_;
  ProblemQueue queue_;
  std::set<std::size_t> prepared_;  // by a rank, and not begun
  Lessons lessons_;
  std::map<std::size_t, ProblemReport> reports_;
};

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
