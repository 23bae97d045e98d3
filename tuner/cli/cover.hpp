// SPDX-License-Identifier: Apache-2.0
// What `cover` knows of its sizes, however it chooses among the configurations.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/cli/compare.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/json/json.hpp"
#include "tuner/search/cover.hpp"
#include "tuner/session/tuning_session.hpp"

namespace autotune::cli {

/// One size with its known times.
struct TunedSize {
  Problem problem;
  db::TunedEntry entry;
  std::map<std::string, double> ratios;
};

struct CoverTask {
  const Target& target;
  const std::vector<std::unique_ptr<Device>>& devices;
  db::TunedStore& store;
  double limit;  // 1.03: within 3 %
  TuningRequest request;
  const TuningCallbacks& callbacks;
  /// Whether a configuration whose timing stopped early counts with what was measured until then.
  bool takes_bounds = false;

  const DeviceInfo& device() const { return devices.front()->info(); }
};

struct Covered {
  std::vector<TunedSize> places;
  std::vector<std::string> candidates;
  std::vector<std::vector<double>> ratios;  // a row for each candidate
  std::vector<TradeOff> curve;

  /// The fastest configuration at a place, of the curve's last choice.
  std::size_t server(std::size_t place) const {
    return *std::ranges::min_element(curve.back().chosen, {},
                                     [&](std::size_t c) { return ratios[c][place]; });
  }
};

/// Throws Error where a size has no correct configuration.
std::vector<TunedSize> tuned_places(const CoverTask& task);

/// The fastest configurations of a place, at most `most` of them.
std::vector<std::string> fastest_of(const TunedSize& place, double limit, std::size_t most);

/// Everything but the curve.
Covered timed_candidates(const CoverTask& task, std::vector<std::string> candidates);

/// Lookups recognize a cover by the notes of its pins.
void store_pin(const CoverTask& task, const TunedSize& place, const std::string& configuration,
               const std::string& note);

/// The members that every document of `cover` begins with.
Json head_of(const CoverTask& task);

}  // namespace autotune::cli
