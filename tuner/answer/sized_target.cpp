// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/sized_target.hpp"

#include <algorithm>
#include <bit>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

std::optional<Levels> levels_in(const Target& target, std::string_view configuration) try {
  return levels_of(target.parameters, parse_named_values(configuration));
} catch (const Error&) {
  return std::nullopt;
}

bool is_valid(const TargetProgram& program, const Levels& levels,
              std::span<const std::int64_t> sizes) noexcept try {
  return program.is_valid(levels, sizes);
} catch (...) {
  return false;
}

std::vector<std::int64_t> SizedTarget::class_of(std::span<const std::int64_t> sizes) const {
  std::vector<std::int64_t> shared(key(sizes).begin(), key(sizes).end());
  if (is_away(sizes)) shared.push_back(line_alignment(sizes));
  return shared;
}

std::span<const std::int64_t> SizedTarget::without_defaults(
    std::span<const std::int64_t> sizes) const {
  while (sizes.size() > target.sizes.size() && sizes.back() == kDefaultSize) {
    sizes = sizes.first(sizes.size() - 1);
  }
  return sizes;
}

std::vector<std::int64_t> SizedTarget::away_from_defaults(
    std::span<const std::int64_t> sizes) const {
  std::vector<std::int64_t> away(sizes.begin(), sizes.end());
  const std::size_t first = target.sizes.size();
  if (away.size() <= first) return away;
  const std::vector<std::int64_t> defaults = program.free_values(key(sizes));
  for (std::size_t i = first; i < away.size(); ++i) {
    if (away[i] == defaults[i - first]) away[i] = kDefaultSize;
  }
  away.resize(without_defaults(away).size());
  return away;
}

int SizedTarget::line_alignment(std::span<const std::int64_t> sizes) const {
  int alignment = kAligned;
  for (const std::int64_t length : program.free_values(sizes)) {
    alignment = std::min(alignment, std::countr_zero(static_cast<std::uint64_t>(length)));
  }
  return alignment;
}

bool SizedTarget::is_valid(const std::optional<Levels>& levels,
                           std::span<const std::int64_t> sizes) const noexcept {
  return levels && autotune::is_valid(program, *levels, sizes);
}

void SizedTarget::check(std::span<const std::int64_t> sizes) const {
  const std::size_t count = target.sizes.size(), all = count + target.free_sizes.size();
  if (sizes.size() < count || sizes.size() > all) {
    const std::size_t fewest = needed_sizes(target);
    throw UsageError(format("{} has {}{} size{}, not {}", target.name, fewest,
                            all > fewest ? format(" to {}", all) : "", all == 1 ? "" : "s",
                            sizes.size()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (sizes[i] < 1 || sizes[i] > 2147483647) {
      throw UsageError(format("{}: the size {}={} is not from 1 to 2147483647", target.name,
                              target.sizes[i], sizes[i]));
    }
    check_size(target, i, sizes[i]);
  }
  for (std::size_t i = count; i < sizes.size(); ++i) {
    if (sizes[i] < 0 && sizes[i] != kDefaultSize) {
      throw UsageError(format("{}: the size {}={} is below 0; {} means its default", target.name,
                              target.free_sizes[i - count].name, sizes[i], kDefaultSize));
    }
  }
  if (!has_rules(target)) return;
  if (const std::string refusal = program.refusal(sizes); !refusal.empty()) {
    throw UsageError(refusal);
  }
}

Problem SizedTarget::problem_for(std::span<const std::int64_t> sizes) const {
  check(sizes);
  return problem_with(away_from_defaults(sizes));
}

Problem SizedTarget::problem_with(std::span<const std::int64_t> sizes) const {
  Problem problem = smallest;
  const std::size_t count = target.sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i < count) problem.values[i].value = sizes[i];
    if (i >= count && sizes[i] != kDefaultSize) {
      problem.free.push_back({target.free_sizes[i - count].name, sizes[i]});
    }
  }
  return problem;
}

}  // namespace autotune
