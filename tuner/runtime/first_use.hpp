// SPDX-License-Identifier: Apache-2.0
// The first use of an untuned problem: likely configurations and the vendor's libraries
// race within a time limit, and the result is stored.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tuner/answer/target_lookup.hpp"
#include "tuner/core/baseline.hpp"
#include "tuner/core/deadline.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/trial.hpp"
#include "tuner/measure/policy.hpp"

namespace autotune {

// Runs tasks on all cores, without making the caller wait.

class BackgroundTasks {
 public:
  /// Starts the tasks in order. They must not throw.
  explicit BackgroundTasks(std::vector<std::function<void()>> tasks);
  /// Drops tasks that have not started, and waits for the others.
  ~BackgroundTasks();
  BackgroundTasks(const BackgroundTasks&) = delete;
  BackgroundTasks& operator=(const BackgroundTasks&) = delete;

  /// Lets no further task start.
  void drop() { next_ = tasks_.size(); }
  /// Whether no task runs or will run.
  bool have_ended() const { return running_ == 0; }

 private:
  const std::vector<std::function<void()>> tasks_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> running_;  // threads
  std::vector<std::jthread> threads_;
};

struct RaceEntrants {
  std::vector<std::string> configurations;  // valid for the problem, the likeliest first
  std::vector<BaselineSource> libraries;
};

/// A library's fastest way to compute the problem.
struct RacedLibrary {
  std::string plugin, candidate;
  Measurement time;
  bool wins = false;  // the whole interval of the paired ratio to the configuration is below 1
};

struct RaceResult {
  std::string configuration;  // the fastest
  std::string binary_key;
  Measurement time;
  double noise_floor = 0;
  std::optional<RacedLibrary> library;
};

/// The result of a race, and the compilations that outlast it. These use the device.
struct Race {
  std::optional<RaceResult> result;
  std::vector<Trial> failed;  // configurations that are wrong, or differ from run to run, or crash
  std::unique_ptr<BackgroundTasks> compilations;
};

/// Compiles, verifies and times the entrants on the device, in buffers of the race's own. Returns
/// once the fastest is known, or soon after the deadline. There is no result if no configuration
/// was verified and timed by then, or if it was not compared with the libraries. Throws Error if
/// the buffers or the reference cannot be made.
Race race(const std::shared_ptr<Device>& device, const Target& target, const Problem& problem,
          const Policy& policy, const RaceEntrants& entrants, const Deadline& deadline);

/// Stores what a program found at a problem of `lookup`, in a session like this one. Throws Error.
void store_found(const std::optional<std::filesystem::path>& database, const TargetLookup& lookup,
                 const Problem& problem, db::SessionRow session, std::optional<db::DecisionRow> row,
                 std::span<const Trial> failed = {});

/// Thread-safe. Runs one race at a time, and one for each problem.
class FirstUse {
 public:
  struct Options {
    double seconds = 0;  // wall time of a race, compilation included
    Policy policy;
    std::optional<std::filesystem::path> database;  // receives the results
    std::function<std::vector<BaselineSource>(const std::string& target)> libraries;
    std::function<std::unique_ptr<Device>()> open_device;  // called at the first race
  };

  explicit FirstUse(Options options) : options_(std::move(options)) {}

  /// Afterwards the lookup has the race's result, unless it had an exact answer before, and answers
  /// no configuration for these sizes that failed in the race. A race without a result leaves any
  /// other answer as it is. The first failure of each kind is a warning of the lookup.
  void settle(TargetLookup& lookup, std::span<const std::int64_t> sizes);

 private:
  void race_and_store(TargetLookup& lookup, std::span<const std::int64_t> sizes,
                      const Deadline& deadline);
  Race race_for(TargetLookup& lookup, std::span<const std::int64_t> sizes,
                const Deadline& deadline);

  const Options options_;
  std::mutex mutex_;
  std::set<std::vector<std::int64_t>> settled_;
  bool race_failed_ = false, store_failed_ = false;  // and the lookup was warned
  std::shared_ptr<Device> device_;
  std::vector<std::unique_ptr<BackgroundTasks>> compilations_;  // still running after their race
};

}  // namespace autotune
