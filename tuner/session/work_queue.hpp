// SPDX-License-Identifier: Apache-2.0
// What each device of a run does next: problems of its own, or help with another's search. Which
// problems wait, in which order, and how much of the run's time each may take.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/session/trial_evaluator.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {

/// Problems have numbers. For one thread at a time.
class ProblemQueue {
 public:
  /// In the order of their numbers.
  explicit ProblemQueue(std::size_t count);
  explicit ProblemQueue(std::span<const std::size_t> order)
      : waiting_(order.begin(), order.end()) {}

  /// The next problem, which is begun then; `wanted` if that waits.
  std::optional<std::size_t> take(std::optional<std::size_t> wanted = {});
  /// The next few problems that nobody has begun.
  std::vector<std::size_t> next(std::size_t count) const;
  /// Replaces the problems that wait.
  void expect(std::span<const std::size_t> order) { waiting_.assign(order.begin(), order.end()); }
  /// A problem that was begun is finished.
  void done() { --begun_; }
  /// A problem that was begun waits again, before all others. False at its second time.
  bool give_back(std::size_t number);
  bool was_given_back(std::size_t number) const { return given_back_.contains(number); }

  bool waits(std::size_t number) const;
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t begun() const { return begun_; }
  /// Problems that are waiting or begun.
  std::size_t unfinished() const { return waiting_.size() + begun_; }

 private:
  std::deque<std::size_t> waiting_;
  std::set<std::size_t> given_back_;  // ever
  std::size_t begun_ = 0;
};

/// The numbers of the problems, those with most work first: the last ones to be begun are short, so
/// that the devices of a run finish at about the same time.
std::vector<std::size_t> longest_first(const Target& target, std::span<const Problem> problems,
                                       const DeviceInfo& device);

/// The bytes of a problem's buffers, without workspace.
std::int64_t buffer_bytes(const Target& target, const Problem& problem, const DeviceInfo& device);

/// The places of each device: two if all devices take turns, if there are more problems than
/// devices, and if the buffers of two leave room; else one. `devices` is not empty.
std::size_t places_of_each(const Target& target, const TuningRequest& request,
                           std::span<Device* const> devices);

/// Longest first, so that all places end at about the same time. The order of the request with one
/// place, or for a workload, which has the heaviest first.
ProblemQueue queue_of(const Target& target, const TuningRequest& request, const DeviceInfo& device,
                      std::size_t places);

/// Seconds for the problem `number`, which is begun now, if `unfinished` problems, itself included,
/// share `devices` devices for the rest of the run's time. Problems with weights are begun in their
/// order. nullopt: the budget is not one of time.
std::optional<double> time_share(const TuningRequest& request, std::size_t number,
                                 std::size_t unfinished, std::size_t devices);

/// Problems and devices have numbers. A device has one place for a problem or more: place p is of
/// device p % devices. Any number of threads at a time.
class WorkQueue {
 public:
  /// Gives out no more work once `stop`, if there is one, says so.
  WorkQueue(ProblemQueue problems, std::size_t devices, StopRequested stop = {});
  /// In the order of their numbers.
  WorkQueue(std::size_t problems, std::size_t devices, StopRequested stop = {})
      : WorkQueue(ProblemQueue(problems), devices, std::move(stop)) {}

  std::size_t device_of(std::size_t place) const { return place % devices_; }

  struct Work {
    std::optional<std::size_t> problem;
    TrialEvaluator* search = nullptr;  // it waits for leave()
  };

  /// The problem that the place has reserved, the first that nobody has reserved, or else any that
  /// nobody has begun. Without a problem, the search of another device with the fewest helpers.
  /// Waits while others tune the last problems, because these may be given back. Neither at the
  /// end, or if the device has dropped out.
  Work next(std::size_t place, bool can_help);
  /// The problem that the place will probably begin next, and may prepare. Others take it last.
  std::optional<std::size_t> reserve(std::size_t place);
  /// Replaces the problems that wait, where another process gives them out.
  void expect(std::span<const std::size_t> order);
  /// Ends the run: next() returns nothing from now on.
  void stop();

  /// A problem that next() returned is finished.
  void done();
  /// The device failed at a problem: another device begins it anew. False at the second time.
  bool give_back(std::size_t number);
  /// Whether a device has failed at the problem.
  bool was_given_back(std::size_t number);
  /// The device does no more work. False if it has dropped out before.
  bool drop_out(std::size_t device);

  /// Other devices may help with the place's search from now on.
  void open(TrialEvaluator& search, std::size_t place);
  /// Ends the help, and waits until every helper has left.
  void close(TrialEvaluator& search);
  /// A helper has let go of the search.
  void leave(TrialEvaluator& search);
  /// The device helps with no search from now on.
  void stay_apart(std::size_t device);

  /// Problems that are not finished, and devices that share them.
  struct Share {
    std::size_t problems, devices;
  };
  Share share();
  /// The problems that will be begun next.
  std::vector<std::size_t> next_problems(std::size_t count);

 private:
  /// A search that is going on.
  struct Search {
    std::size_t device = 0;
    int helpers = 0;
    bool over = false;
  };

  TrialEvaluator* search_for(std::size_t device) const;
  std::optional<std::size_t> problem_for(std::size_t place) const;

  const StopRequested stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  ProblemQueue problems_;
  const std::size_t devices_;
  std::set<std::size_t> out_;                    // devices that have dropped out
  std::set<std::size_t> apart_;                  // devices that help with no search
  std::map<std::size_t, std::size_t> reserved_;  // place -> problem; it may be begun by another
  std::map<TrialEvaluator*, Search> searches_;
  bool stopped_ = false;
};

}  // namespace autotune
