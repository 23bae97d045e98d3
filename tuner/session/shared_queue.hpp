// SPDX-License-Identifier: Apache-2.0
// Configurations of one problem to measure, shared by all devices that work on it, and a device
// that helps another one's search.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "tuner/core/trial.hpp"
#include "tuner/session/bench.hpp"
#include "tuner/session/compile_pool.hpp"

namespace autotune {

/// One owner adds tasks and takes trials, from one thread. Helpers run tasks in other threads.
class SharedQueue {
 public:
  struct Task {
    std::size_t index = 0;
    CompileRequests::Result kernel;
  };
  using Make = std::function<Trial(const Task&)>;

  /// Compares a helper's device with the owner's: a configuration with its first and its current
  /// time on the owner's device.
  struct Reference {
    Loadable default_configuration;
    double seconds = 0;
    double seconds_now = 0;
  };

  /// Owner: adds tasks behind the waiting ones.
  void add(std::vector<Task> tasks);
  /// Owner: returns the trial of an added task. While a helper runs that task, this call runs
  /// others. If `make` throws, its task is lost.
  Trial take(std::size_t index, const Make& make);
  /// Owner: drops tasks that have not begun, waits for those that helpers run, and returns every
  /// trial that was not taken.
  std::map<std::size_t, Trial> abandon();
  /// Number of tasks that have not begun.
  std::size_t waiting();
  /// Owner: ends help() in all helpers.
  void close();

  void set_reference(Reference reference);
  /// Helper: waits for the reference. Returns nullopt if the queue is closed first.
  std::optional<Reference> reference();
  /// Helper: runs tasks until the queue is closed. If `make` throws, the exception leaves this
  /// call, and the task goes back to the queue.
  void help(const Make& make);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  std::map<std::size_t, Trial> made_;
  std::optional<Reference> reference_;
  int helpers_busy_ = 0;
  bool closed_ = false;
};

/// For one thread. Throws Error if the device fails.
class SearchHelper {
 public:
  /// All must outlive it. The device must be isolated.
  SearchHelper(Device& device, const Target& target, const Problem& problem, const Policy& policy)
      : bench_(device, target, problem, policy, [this] { return default_; }) {}
  SearchHelper(const SearchHelper&) = delete;
  SearchHelper& operator=(const SearchHelper&) = delete;

  /// Seconds of the default configuration. To be called first, and once.
  double time_default(const Loadable& default_configuration) {
    default_ = default_configuration;
    const Device::Turn turn = bench_.device().take_turn();
    return bench_.anchor().seconds();
  }
  /// Scales times from now on: the default configuration takes `seconds` on the search's device.
  void compare_with(double seconds) { bench_.anchor().compare_with(seconds); }
  /// How the default configuration failed, as the anchor of this device.
  const std::optional<KernelFailure>& anchor_failure() const { return bench_.anchor_failure(); }
  /// As Bench::measure().
  void measure(Trial& trial, const Loadable& configuration, double best_seconds) {
    bench_.measure(trial, configuration, best_seconds);
  }

 private:
  std::optional<Loadable> default_;
  Bench bench_;
};

}  // namespace autotune
