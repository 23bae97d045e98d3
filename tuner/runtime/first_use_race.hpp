// SPDX-License-Identifier: Apache-2.0
// Races the likeliest configurations and the vendor's libraries for one problem, within a time
// limit.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/core/baseline.hpp"
#include "tuner/core/deadline.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/measurement.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/trial.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/runtime/background_tasks.hpp"

namespace autotune {

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

}  // namespace autotune
