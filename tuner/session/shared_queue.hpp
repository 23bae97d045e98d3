// SPDX-License-Identifier: Apache-2.0
// Configurations of one problem that wait to be measured, for every device that is at work on it.
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
#include "tuner/session/compile_pool.hpp"
#include "tuner/session/station.hpp"

namespace autotune {

/// Filled and emptied by its owner, from one thread; helpers take from it in others.
class SharedQueue {
 public:
  struct Task {
    std::size_t index = 0;
    CompilePool::Result kernel;
  };
  using Make = std::function<Trial(const Task&)>;

  /// What tells whether a device is like the owner's: a configuration, what it took there at first
  /// and what it takes there now.
  struct Reference {
    Loadable standard;
    double seconds = 0;
    double seconds_now = 0;
  };

  /// The owner's: adds tasks, behind those that wait.
  void add(std::vector<Task> tasks);
  /// The owner's: the trial of a task that was added. While a helper is at it, makes others; what
  /// `make` throws loses that task.
  Trial take(std::size_t index, const Make& make);
  /// The owner's: forgets tasks that nobody has begun, waits for those that helpers are at, and
  /// returns every trial that was not taken.
  std::map<std::size_t, Trial> abandon();
  /// Tasks that nobody has begun.
  std::size_t waiting();
  /// The owner's: lets the helpers go.
  void close();

  void set_reference(Reference reference);
  /// A helper's: waits for it; nothing when the queue is closed first.
  std::optional<Reference> reference();
  /// A helper's: makes trials until the queue is closed. What `make` throws leaves its task to the
  /// others and comes out here.
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
