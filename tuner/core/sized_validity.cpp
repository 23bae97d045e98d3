// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/sized_validity.hpp"

#include <algorithm>

#include "tuner/core/target_program.hpp"

namespace autotune {
namespace {

bool holds(const Formula& condition, const Slots& slots) {
  return condition.value(slots).value_or(0) != 0;
}

}  // namespace

SizedValidity::SizedValidity(const Target& target, const Problem& problem, const DeviceInfo& device)
    : target_(target), problem_(problem), device_(device), families_(target) {}

SizedValidity::Family::Family(const SizedValidity& of, std::optional<FixedLevel> fixed)
    : names(name_table_of(of.target_, of.target_.parameters, of.problem_, of.device_,
                          SizeBinding::given, fixed)) {
  for (std::size_t i = 0; i < of.target_.parameters.size(); ++i) {
    if (const auto when = names.bind(of.target_.parameters[i].when)) add(*when, i);
  }
  for (const Formula& constraint : names.bind(of.target_.constraints)) add(constraint, {});
  std::ranges::sort(of_sizes);
}

void SizedValidity::Family::add(const Formula& condition, std::optional<std::size_t> parameter) {
  if (condition.is_fixed() && holds(condition, {})) return;
  if (condition.is_fixed() && parameter) {
    unused.push_back(*parameter);
    return;
  }
  Schedule definitions;
  for (const std::uint32_t each : names.schedule(condition)) {
    if (std::ranges::find(known, each) != known.end()) continue;
    known.push_back(each);
    (names.is_of_parameters(each) ? definitions : of_sizes).push_back(each);
  }
  if (!parameter && !names.is_of_parameters(condition)) {
    preconditions.push_back(condition);
  } else {
    steps.push_back({std::move(definitions), condition, parameter});
  }
}

void SizedValidity::prepare() const {
  for (std::size_t i = 0; i < families_.count(); ++i) family(i);
}

const SizedValidity::Family& SizedValidity::family(std::size_t index) const {
  return families_.at(
      index, [&](std::optional<Family>& made) { made.emplace(*this, families_.fixed(index)); });
}

ValidityAt::Family& ValidityAt::family(std::size_t index) {
  Family& family = families_[index];
  if (family.rules != nullptr) return family;
  family.rules = &validity_->family(index);
  const NameTable& names = family.rules->names;
  family.slots = names.given_slots(sizes_, family.rules->of_sizes);
  family.is_possible =
      std::ranges::all_of(family.rules->preconditions,
                          [&](const Formula& condition) { return holds(condition, family.slots); });
  return family;
}

bool ValidityAt::operator()(std::span<const std::uint16_t> levels) {
  Family& family = this->family(validity_->families_.index_of(levels));
  if (!family.is_possible) return false;
  const SizedValidity::Family& rules = *family.rules;
  const auto is_first = [&](std::size_t parameter) { return levels[parameter] == 0; };
  if (!std::ranges::all_of(rules.unused, is_first)) return false;
  rules.names.set(family.slots, levels);
  for (const SizedValidity::Step& step : rules.steps) {
    for (const std::uint32_t each : step.definitions) rules.names.compute(family.slots, each);
    if (step.parameter && is_first(*step.parameter)) continue;
    if (!holds(step.condition, family.slots)) return false;
  }
  return true;
}

}  // namespace autotune
