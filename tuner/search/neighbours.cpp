// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/neighbours.hpp"

#include <algorithm>

namespace autotune {
namespace {

bool mentions(const Parameter& parameter, const std::string& name) {
  if (!parameter.when) return false;
  const std::vector<std::string>& names = parameter.when->names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Neighbours::Neighbours(const ParameterSpace& space)
    : space_(space), dependents_(space.parameters().size()) {
  const std::vector<Parameter>& parameters = space.parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    std::vector<std::size_t>& dependents = dependents_[p];
    std::vector<std::size_t> pending = {p};
    while (!pending.empty()) {
      const std::string& name = parameters[pending.back()].name;
      pending.pop_back();
      for (std::size_t q = 0; q < parameters.size(); ++q) {
        if (q == p || !mentions(parameters[q], name)) continue;
        if (std::find(dependents.begin(), dependents.end(), q) != dependents.end()) continue;
        dependents.push_back(q);
        pending.push_back(q);
      }
    }
  }
}

std::vector<std::size_t> Neighbours::along(std::size_t index, std::size_t parameter) const {
  std::vector<std::size_t> found;
  const Levels levels = space_.levels(index);
  Levels changed = levels;
  Levels reset = levels;
  for (const std::size_t dependent : dependents_[parameter]) reset[dependent] = 0;
  const std::size_t values = space_.parameters()[parameter].values.size();
  for (std::size_t level = 0; level < values; ++level) {
    if (level == levels[parameter]) continue;
    changed[parameter] = reset[parameter] = static_cast<std::uint16_t>(level);
    std::optional<std::size_t> neighbour = space_.find(changed);
    if (!neighbour && changed != reset) neighbour = space_.find(reset);
    if (neighbour) found.push_back(*neighbour);
  }
  return found;
}

std::vector<std::size_t> Neighbours::of(std::size_t index) const {
  std::vector<std::size_t> found;
  for (std::size_t p = 0; p < dependents_.size(); ++p) {
    const std::vector<std::size_t> more = along(index, p);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

std::vector<std::size_t> Neighbours::within_two_changes(std::size_t index) const {
  std::vector<std::size_t> found = of(index);
  const std::size_t near = found.size();
  for (std::size_t i = 0; i < near; ++i) {
    const std::vector<std::size_t> more = of(found[i]);
    found.insert(found.end(), more.begin(), more.end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::erase(found, index);
  return found;
}

}  // namespace autotune
