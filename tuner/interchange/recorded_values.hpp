// SPDX-License-Identifier: Apache-2.0
// Values of parameters as Python and JSON write them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tuner/core/parameter_space.hpp"
#include "tuner/json/checked_json.hpp"

namespace autotune {

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

}  // namespace autotune
