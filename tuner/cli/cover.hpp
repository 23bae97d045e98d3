// SPDX-License-Identifier: Apache-2.0
// What `cover` knows of its sizes, however it chooses among the configurations.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/store.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/json/json.hpp"
#include "tuner/search/cover.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune::cli {

// Times of the configurations tried at a problem, relative to the fastest.

/// `--within` as a ratio: 1.05 for `5` or `5%`. Throws UsageError.
double limit_of(const Arguments& arguments);

inline constexpr double kUnserved = std::numeric_limits<double>::infinity();

/// Ratios by configuration, of the search's times, which the anchor makes comparable. Infinity for
/// a configuration that fails, or whose lower bound is within `limit` (1.05: 5 % slower than the
/// fastest). Empty without trials.
std::map<std::string, double> trial_ratios(const db::TunedStore& store, const db::TunedEntry& entry,
                                           double limit);

/// A row for each configuration, with kUnserved where it was not tried.
template <class Place>
std::vector<std::vector<double>> ratio_rows(const std::vector<std::string>& configurations,
                                            const std::vector<Place>& places) {
  std::vector<std::vector<double>> rows;
  for (const std::string& configuration : configurations) {
    auto& row = rows.emplace_back();
    for (const Place& place : places) {
      const auto found = place.ratios.find(configuration);
      row.push_back(found != place.ratios.end() ? found->second : kUnserved);
    }
  }
  return rows;
}

// The timed trials of a problem, sorted by one of their columns.

/// The latest timed trial of each configuration, at most `most`, sorted by the column. The least
/// comes first, but the largest occupancy; trials without a value come last.
std::vector<db::TrialRow> sorted_trials(std::vector<db::TrialRow> trials, const std::string& column,
                                        std::size_t most);

std::string trials_text(const std::vector<db::TrialRow>& trials, const Readable& readable);
Json trials_json(const std::vector<db::TrialRow>& trials);

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

/// Lookups recognize a cover by the notes of its pins.
void store_pin(const CoverTask& task, const TunedSize& place, const std::string& configuration,
               const std::string& note);

/// The members that every document of `cover` begins with.
Json head_of(const CoverTask& task);

// cover --bits: sizes that differ in M and batch only get configurations of one reduction class, or
// each size one with the bits of a vendor's library. cover --over: problems that differ in a
// setting only get the same configuration.

inline constexpr double kWideLimit = 10;  // of candidates with --bits or --over, without --within
inline constexpr double kSlow = 1.1;      // ratio from which on a class is searched for faster ones
inline constexpr std::size_t kMostClassified = 64;  // configurations of a size, for their bits

/// What --bits asks for.
struct WantedBits {
  std::string reduction_class;            // empty: the one that costs least
  std::optional<BaselineSource> library;  // whose bits each size is to have
};

/// The candidates' classes at places. Those of places that differ in M only are the same.
class ClassesAtPlaces {
 public:
  explicit ClassesAtPlaces(const CoverTask& task) : task_(task) {}

  /// A class for each candidate.
  const std::vector<std::string>& at(const Problem& problem,
                                     const std::vector<std::string>& candidates);

 private:
  const CoverTask& task_;
  std::map<std::pair<std::string, std::vector<std::string>>, std::vector<std::string>> known_;
};

/// Numbers of the places of each group.
using PlaceGroups = std::map<std::string, std::vector<std::size_t>>;
/// By what their problems have beside M and batch, on which a row of the output does not depend.
PlaceGroups groups_by_rows(const std::vector<TunedSize>& places);
/// By their sizes.
PlaceGroups groups_by_size(const Target& target, const std::vector<TunedSize>& places);

/// nullopt without --bits. Throws UsageError for another word, and for a target whose bits are not
/// known.
std::optional<WantedBits> wanted_bits(const Arguments& arguments, const Target& target,
                                      DeviceKind kind, Plugins& plugins);

/// Searches the class that each group will have, at the sizes where its fastest is slow. The
/// sessions are partial. False if interrupted.
bool search_classes(const CoverTask& task, const WantedBits& wanted, ClassesAtPlaces& known);

/// The fastest few of each place in the wanted class, or in each of the promising ones.
std::vector<std::string> candidates_by_class(const CoverTask& task, const WantedBits& wanted,
                                             const std::vector<TunedSize>& places,
                                             ClassesAtPlaces& known);

/// Pins and prints a choice of one class for each group.
int keep_bits(const CoverTask& task, const Covered& result, const WantedBits& wanted,
              ClassesAtPlaces& known, const Arguments& arguments);

/// Pins and prints for each size the candidate whose largest ratio over the values of the setting
/// --over is least.
int keep_one_over(const CoverTask& task, const Covered& result, const Arguments& arguments);

/// The fastest configuration of each place with the bits of the library there. The exit status says
/// whether all places have one.
int take_bits_of(const CoverTask& task, const BaselineSource& library,
                 const std::vector<TunedSize>& places, const Arguments& arguments);

}  // namespace autotune::cli
