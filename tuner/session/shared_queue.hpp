// SPDX-License-Identifier: Apache-2.0
// Configurations of one problem to measure, shared by all devices that work on it.
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

}  // namespace autotune
