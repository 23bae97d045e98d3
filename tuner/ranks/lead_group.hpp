// SPDX-License-Identifier: Apache-2.0
// The problems of the ranks with one kind of device, as rank 0 sees them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/target.hpp"
#include "tuner/ranks/lessons.hpp"
#include "tuner/ranks/messages.hpp"
#include "tuner/session/problem_queue.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {

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

}  // namespace autotune
