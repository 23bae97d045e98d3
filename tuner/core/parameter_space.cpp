// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/parameter_space.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "tuner/core/space_builder.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// The time to build a space grows with the squares of these.
constexpr std::size_t kMostParameters = 256, kMostConstraints = 2000;

void check_count(std::size_t count, std::size_t most, const char* what, const char* remedy) {
  if (count > most)
    throw Error(format("there are {} {}, the most are {}: {}", count, what, most, remedy));
}

std::vector<Parameter> checked(std::vector<Parameter> parameters, const Scope& scope) {
  check_count(parameters.size(), kMostParameters, "parameters", "leave out those with one value");
  std::set<std::string> names;
  for (const Parameter& parameter : parameters) {
    if (!names.insert(parameter.name).second) {
      throw Error(format("two parameters are called {}: rename one", parameter.name));
    }
    if (scope.contains(parameter.name)) {
      throw Error(
          format("{} is both a parameter and a size or setting: rename one", parameter.name));
    }
    if (parameter.values.empty()) {
      throw Error(format("parameter {} has no values: give at least one", parameter.name));
    }
    if (parameter.values.size() > std::numeric_limits<std::uint16_t>::max()) {
      throw Error(format("parameter {} has {} values, the most are {}", parameter.name,
                         parameter.values.size(), std::numeric_limits<std::uint16_t>::max()));
    }
  }
  return parameters;
}

/// The number of combinations; nullopt beyond 2^63.
std::optional<std::uint64_t> product_of(std::span<const std::size_t> counts) {
  std::int64_t product = 1;
  for (const std::size_t count : counts) {
    if (__builtin_mul_overflow(product, static_cast<std::int64_t>(count), &product)) return {};
  }
  return static_cast<std::uint64_t>(product);
}

/// The levels of a parameter in one family.
std::vector<std::uint16_t> levels_in(const Parameter& parameter, std::size_t family) {
  if (!parameter.family_levels.empty()) return parameter.family_levels[family];
  std::vector<std::uint16_t> all(parameter.values.size());
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  return all;
}

}  // namespace

Expression condition_on(const Parameter& parameter, const std::string& text) {
  const bool is_real = parameter.values.front().is_real();
  return Expression::parse(text, [&](const std::string& name) {
    return NameMeaning{is_real ? ValueKind::real : ValueKind::any, name};
  });
}

Ranking::Ranking(std::span<const Parameter> parameters, std::optional<std::size_t> family)
    : family_(family),
      parameters_(parameters.size()),
      digits_(family ? parameters[*family].values.size() : 1) {
  for (std::size_t one = 0; one < digits_.size(); ++one) {
    std::vector<std::size_t> counts;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (i == family) continue;
      std::vector<std::uint16_t> levels = levels_in(parameters[i], one);
      if (levels.empty()) continue;
      counts.push_back(levels.size());
      digits_[one].push_back({i, std::move(levels)});
    }
    const auto count = product_of(counts);
    if (!count) {
      throw Error(
          format("the parameters{} have more than 2^63 combinations: remove values or "
                 "parameters",
                 family ? " of " + parameters[*family].values[one].text() : ""));
    }
    counts_.push_back(*count);
  }
}

std::optional<std::uint64_t> Ranking::rank(std::span<const std::uint16_t> levels) const {
  std::uint64_t rank = 0;
  std::size_t next = 0;  // each level but 0 must be one of the family's
  const auto& digits = digits_[family_of(levels)];
  for (const Digit& digit : digits) {
    for (; next < digit.parameter; ++next) {
      if (levels[next] != 0 && next != family_) return std::nullopt;
    }
    ++next;
    const auto found = std::ranges::lower_bound(digit.levels, levels[digit.parameter]);
    if (found == digit.levels.end() || *found != levels[digit.parameter]) return std::nullopt;
    rank = rank * digit.levels.size() + static_cast<std::size_t>(found - digit.levels.begin());
  }
  for (; next < parameters_; ++next) {
    if (levels[next] != 0 && next != family_) return std::nullopt;
  }
  return rank;
}

Levels Ranking::levels(std::size_t family, std::uint64_t rank) const {
  Levels levels(parameters_);
  if (family_) levels[*family_] = static_cast<std::uint16_t>(family);
  for (auto digit = digits_[family].rbegin(); digit != digits_[family].rend(); ++digit) {
    levels[digit->parameter] = digit->levels[rank % digit->levels.size()];
    rank /= digit->levels.size();
  }
  return levels;
}

ParameterSpace::ParameterSpace(std::vector<Parameter> parameters,
                               std::span<const Expression> constraints, const Scope& scope,
                               std::span<const DefineSpec> defines,
                               std::optional<std::size_t> family)
    : parameters_(checked(std::move(parameters), scope)), ranking_(parameters_, family) {
  check_count(constraints.size(), kMostConstraints, "constraints", "join some with &&");
  check_count(defines.size(), kMostDefines, "defines", "leave out those that nothing names");
  SpaceBuilder builder(parameters_, ranking_, constraints, scope, defines);
  for (std::vector<std::uint64_t>& ranks : builder.build()) {
    if (ranks_.empty()) {
      ranks_ = std::move(ranks);
    } else {
      ranks_.insert(ranks_.end(), ranks.begin(), ranks.end());
    }
    ends_.push_back(ranks_.size());
  }
  why_empty_ = builder.why_empty();
}

ParameterSpace::ParameterSpace(std::vector<Parameter> parameters, std::vector<std::uint64_t> ranks)
    : parameters_(checked(std::move(parameters), Scope{})),
      ranking_(parameters_, std::nullopt),
      ranks_(std::move(ranks)) {
  std::sort(ranks_.begin(), ranks_.end());
  ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
  if (!ranks_.empty() && ranks_.back() >= product()) {
    throw Error(format("rank {} lies beyond the {} combinations of the parameters", ranks_.back(),
                       product()));
  }
  ends_.push_back(ranks_.size());
}

std::uint64_t ParameterSpace::product() const {
  std::uint64_t sum = 0;
  for (std::size_t family = 0; family < ranking_.families(); ++family) {
    if (__builtin_add_overflow(sum, ranking_.count(family), &sum)) return ~std::uint64_t{0};
  }
  return sum;
}

Levels ParameterSpace::levels(std::size_t index) const {
  const auto end = std::ranges::upper_bound(ends_, index);
  return ranking_.levels(static_cast<std::size_t>(end - ends_.begin()), ranks_[index]);
}

Configuration ParameterSpace::at(std::size_t index) const {
  return configuration_of(parameters_, levels(index));
}

std::optional<std::size_t> ParameterSpace::find(std::span<const std::uint16_t> levels) const {
  if (levels.size() != parameters_.size()) return std::nullopt;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] >= parameters_[i].values.size()) return std::nullopt;
  }
  const auto rank = ranking_.rank(levels);
  if (!rank) return std::nullopt;
  const std::size_t family = ranking_.family_of(levels);
  const auto begin = ranks_.begin() + static_cast<std::ptrdiff_t>(family ? ends_[family - 1] : 0);
  const auto end = ranks_.begin() + static_cast<std::ptrdiff_t>(ends_[family]);
  const auto found = std::lower_bound(begin, end, *rank);
  if (found == end || *found != *rank) return std::nullopt;
  return static_cast<std::size_t>(found - ranks_.begin());
}

std::optional<std::size_t> ParameterSpace::find(const Configuration& configuration) const {
  const auto levels = levels_of(parameters_, configuration);
  return levels ? find(*levels) : std::nullopt;
}

std::optional<Levels> levels_of(std::span<const Parameter> parameters,
                                const Configuration& configuration) {
  if (configuration.size() != parameters.size()) return std::nullopt;
  Levels levels;
  levels.reserve(parameters.size());
  for (const Parameter& parameter : parameters) {
    const Value* const value = find_value(configuration, parameter.name);
    if (!value) return std::nullopt;
    const auto level = std::find(parameter.values.begin(), parameter.values.end(), *value);
    if (level == parameter.values.end()) return std::nullopt;
    levels.push_back(static_cast<std::uint16_t>(level - parameter.values.begin()));
  }
  return levels;
}

Configuration configuration_of(std::span<const Parameter> parameters,
                               std::span<const std::uint16_t> levels) {
  Configuration configuration;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    configuration.push_back({parameters[i].name, parameters[i].values[levels[i]]});
  }
  return configuration;
}

}  // namespace autotune
