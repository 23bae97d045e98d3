// SPDX-License-Identifier: Apache-2.0
// A tuner's recorded results of one problem, independent of the file format. Files may be gzip'd,
// and unfinished: Kernel Tuner appends to its cache while it runs.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/outcome.hpp"
#include "tuner/core/parameter_space.hpp"
#include "tuner/json/json.hpp"

namespace autotune {

/// The whole file, unpacked if it is gzip'd. Throws Error if it cannot be read or is damaged.
std::string read_maybe_gzip(const std::filesystem::path& file);

/// JSON that its writer did not finish.
struct UnfinishedJson {
  Json json;
  bool is_cut_off = false;  // a part of a member was left out
};

/// Reads JSON. If its end is missing, reads the complete members of the object in which it ends,
/// `{"cache": {` of a Kernel Tuner cache. Throws Error with file, line and column.
UnfinishedJson parse_unfinished_json(std::string_view text, std::string_view file);

/// A measurement with this name marks the time as a lower bound.
inline constexpr const char* kLowerBound = "lower_bound";
/// The measurement that is compared; milliseconds if no unit is given.
inline constexpr const char* kTime = "time";

/// A JSON value: true is 1, 2.0 is 2; anything but an integer or text becomes its JSON text.
Value value_of(const Json& json);
/// The inverse for values that files have as numbers.
Json json_of(const Value& value);

/// The members of `configuration` called `names`. Throws Error for a missing one.
std::vector<Value> values_of(const CheckedJson& configuration,
                             const std::vector<std::string>& names);

/// Removes repeated values; the first stays. Python's 1 and True are the same value.
void drop_repeated(std::vector<Value>& values);

/// The parameter's name with the values that occur in `rows`, in ascending order. `rows` has one
/// value for each parameter.
Parameter parameter_of(std::string name, std::size_t place,
                       const std::vector<std::vector<Value>>& rows);

/// Seconds; 0 if the member is missing or not a number. `unit`: its unit in seconds.
double seconds_of(const CheckedJson& object, const char* member, double unit = 1e-3);
/// The members' names of one format: what evaluating a configuration cost.
struct CostNames {
  const char* runs;      // a list: a time for each run
  const char* all_runs;  // counts where the list is missing
  std::array<const char*, 4> others;
};
/// Their sum in seconds; 0 if none is there.
double total_seconds_of(const CheckedJson& object, const CostNames& names, double unit = 1e-3);
/// `otherwise` if the member is missing or not a text.
std::string text_of(const CheckedJson& object, const char* member, std::string otherwise = {});

/// One configuration and its result.
struct RecordedResult {
  std::vector<Value> values;  // one per parameter
  Outcome outcome = Outcome::ok;
  std::optional<double> seconds = {};  // of ok; of pruned, a lower bound
  double compile_seconds = 0;          // 0: unknown
  int samples = 0;                     // times behind `seconds`; 0: unknown
  std::string timestamp = {};          // as in the file: `2026-11-22 14:34:21.102791+00:00`
  double total_seconds = 0;            // all that evaluating it cost, compiling too; 0: unknown
  double predicted_seconds = 0;        // by the cost model; 0: unknown
  bool is_default = false;             // the configuration that the search knew first
};

struct RecordedResults {
  enum class Format : std::uint8_t { kernel_tuner_cache, t4 } format = Format::kernel_tuner_cache;
  std::string device, kernel;        // names; empty if the file has none
  std::vector<double> problem_size;  // empty if the file has none
  std::vector<Parameter> parameters;
  std::vector<RecordedResult> results;
  bool is_cut_off = false;  // the file is truncated within a result
};

/// As in the keys of Kernel Tuner's caches: `32,1.5,near`.
std::string key_of(std::span<const Value> values);

/// Reads Kernel Tuner's cache (complete, or left by an interrupted run) or T4 results, with or
/// without gzip. Throws Error with the file and what is wrong.
RecordedResults read_recorded_results(const std::filesystem::path& file);

// Files of other tuners' results: Kernel Tuner's caches, of 1.5.0 and earlier versions, and T4.

/// Throws Error with the file and the key that is wrong.
RecordedResults read_kernel_tuner_cache(const CheckedJson& document);

/// A complete cache in the layout of 1.5.0, which Kernel Tuner's simulation mode reads. An outcome
/// that Kernel Tuner does not know becomes the nearest one that it knows.
std::string kernel_tuner_cache(const RecordedResults& results);

// T4: the auto-tuning community's format of tuning results.

/// Throws Error with the file and the key that is wrong.
RecordedResults read_t4_results(const CheckedJson& document);

/// A document of schema version 1.0.0.
std::string t4_results(const RecordedResults& results);

}  // namespace autotune
