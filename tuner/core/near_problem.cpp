// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/near_problem.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "tuner/core/target_program.hpp"
#include "tuner/text/figures.hpp"

namespace autotune {
namespace {

bool is_launched(const Target& target, const Problem& problem, const DeviceInfo& device) try {
  const TargetProgram program(target, problem, device);
  const auto levels = program.first_valid_default();
  if (!levels || !program.refusal().empty()) return false;
  (void)program.plan(*levels);
  return true;
} catch (const std::exception&) {  // such as more shared memory than the device has
  return false;
}

/// With the sizes of `problem` that can stay.
Problem with_sizes_of(const Problem& problem, Problem near, const Target& target,
                      const DeviceInfo& device) {
  for (NamedValue& each : near.values) {
    const Value changed = std::exchange(each.value, *find_value(problem.values, each.name));
    if (each.value != changed && !is_launched(target, near, device)) each.value = changed;
  }
  return near;
}

}  // namespace

std::optional<Problem> near_problem(const Target& target, const Problem& problem,
                                    const DeviceInfo& device) {
  constexpr std::int64_t kMostUnit = 4096, kMostParts = 64;
  const auto with = [&](const std::function<std::int64_t(std::int64_t)>& near) {
    Problem made = problem;
    for (std::size_t i = 0; i < needed_sizes(target); ++i) {
      const auto size = std::ranges::find(made.values, target.sizes[i], &NamedValue::name);
      if (size_rule(target, i).fixed) continue;
      size->value = size_from(target, i, std::max<std::int64_t>(1, near(size->value.integer())));
    }
    return made;
  };
  std::int64_t largest = 1;
  for (const std::int64_t each : sizes_of(target, problem)) largest = std::max(largest, each);
  for (const std::int64_t least : {std::int64_t{1}, largest}) {
    for (std::int64_t unit = 1; unit <= kMostUnit; unit *= 2) {
      Problem made =
          with([&](std::int64_t size) { return (std::max(size, least) + unit - 1) / unit * unit; });
      if (is_launched(target, made, device))
        return with_sizes_of(problem, std::move(made), target, device);
    }
  }
  for (std::int64_t parts = 2; parts <= kMostParts; parts *= 2) {
    Problem made = with([&](std::int64_t size) { return size / parts; });
    if (is_launched(target, made, device))
      return with_sizes_of(problem, std::move(made), target, device);
  }
  return std::nullopt;
}

std::string size_text(const Target& target, const Problem& problem) {
  std::vector<std::int64_t> sizes = sizes_of(target, problem);
  sizes.resize(needed_sizes(target));
  return joined(sizes, "x");
}

}  // namespace autotune
