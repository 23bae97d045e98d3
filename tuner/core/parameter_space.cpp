// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/parameter_space.hpp"

#include <algorithm>
#include <limits>
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

void check(const std::vector<Parameter>& parameters, const Scope& scope) {
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
}

std::uint64_t product_of(const std::vector<Parameter>& parameters) {
  std::int64_t product = 1;
  for (const Parameter& parameter : parameters) {
    const auto values = static_cast<std::int64_t>(parameter.values.size());
    if (__builtin_mul_overflow(product, values, &product)) {
      throw Error("the parameters have more than 2^63 combinations: remove values or parameters");
    }
  }
  return static_cast<std::uint64_t>(product);
}

}  // namespace

Expression condition_on(const Parameter& parameter, const std::string& text) {
  const bool is_real = parameter.values.front().is_real();
  return Expression::parse(text, [&](const std::string& name) {
    return NameMeaning{is_real ? ValueKind::real : ValueKind::any, name};
  });
}

ParameterSpace::ParameterSpace(std::vector<Parameter> parameters,
                               std::span<const Expression> constraints, const Scope& scope,
                               std::span<const DefineSpec> defines)
    : parameters_(std::move(parameters)) {
  check(parameters_, scope);
  check_count(constraints.size(), kMostConstraints, "constraints", "join some with &&");
  check_count(defines.size(), kMostDefines, "defines", "leave out those that nothing names");
  product_ = product_of(parameters_);
  SpaceBuilder builder(parameters_, constraints, scope, defines);
  ranks_ = builder.build();
  why_empty_ = builder.why_empty();
}

ParameterSpace::ParameterSpace(std::vector<Parameter> parameters, std::vector<std::uint64_t> ranks)
    : parameters_(std::move(parameters)), ranks_(std::move(ranks)) {
  check(parameters_, Scope{});
  product_ = product_of(parameters_);
  std::sort(ranks_.begin(), ranks_.end());
  ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
  if (!ranks_.empty() && ranks_.back() >= product_) {
    throw Error(format("rank {} lies beyond the {} combinations of the parameters", ranks_.back(),
                       product_));
  }
}

Levels ParameterSpace::levels(std::size_t index) const {
  Levels levels(parameters_.size());
  std::uint64_t rest = ranks_[index];
  for (std::size_t i = parameters_.size(); i-- > 0;) {
    const std::uint64_t count = parameters_[i].values.size();
    levels[i] = static_cast<std::uint16_t>(rest % count);
    rest /= count;
  }
  return levels;
}

Configuration ParameterSpace::at(std::size_t index) const {
  return configuration_of(parameters_, levels(index));
}

std::optional<std::size_t> ParameterSpace::find(std::span<const std::uint16_t> levels) const {
  if (levels.size() != parameters_.size()) return std::nullopt;
  std::uint64_t rank = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] >= parameters_[i].values.size()) return std::nullopt;
    rank = rank * parameters_[i].values.size() + levels[i];
  }
  const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
  if (found == ranks_.end() || *found != rank) return std::nullopt;
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
