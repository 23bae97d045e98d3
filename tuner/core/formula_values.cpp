// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/formula_values.hpp"

#include <algorithm>

#include "tuner/core/element_type.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {

void Question::fail(const std::string& key, const std::string& what) const {
  NamedValues values = problem.values;
  values.insert(values.end(), problem.free.begin(), problem.free.end());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Parameter& parameter = target.parameters[i];
    values.push_back({parameter.name, parameter.values[levels[i]]});
  }
  throw Error(format("{}: {}: {} (for {})", place_of(target), key, what, to_text(values)));
}

void FormulaValues::refuse(const Formula& formula, std::int64_t value, std::int64_t least,
                           const std::string& key) const {
  fail(key,
       format("\"{}\" is {}, it must be {} or more", formula.expression().text(), value, least));
}

void FormulaValues::refuse(ElementType type, std::int64_t value, const std::string& key) const {
  if (type != ElementType::i32) fail(key, format("{} does not fit {}", value, name_of(type)));
  fail(key, format("{} does not fit an int: give it type i64 under \"arguments\"", value));
}

namespace {

constexpr std::string_view kPlace = "{}";

}  // namespace

std::string source_text(const Value& word, WordForm form, const WordTexts& texts) {
  if (form == WordForm::type) return std::string(cpp_name_of(*element_type(word.text())));
  const auto found = texts.find(word.text());
  return found == texts.end() ? word.text() : found->second;
}

EntryName::EntryName(const Target& target, const Problem& problem, std::string_view rest,
                     const std::vector<Expression>& values, NameTable& names) {
  std::string before;
  for (const Expression& value : values) {
    const std::size_t place = rest.find(kPlace);
    before += rest.substr(0, place);
    rest.remove_prefix(place + kPlace.size());
    const auto parameter = std::ranges::find(target.parameters, value.text(), &Parameter::name);
    const auto setting = std::ranges::find(target.settings, value.text(), &Setting::name);
    if (setting != target.settings.end() && setting->values.front().is_word()) {
      before +=
          source_text(*find_value(problem.values, setting->name), setting->form, setting->texts);
    } else if (parameter != target.parameters.end() && parameter->values.front().is_word()) {
      const auto index = static_cast<std::size_t>(parameter - target.parameters.begin());
      parts_.push_back({std::move(before), {}, &*parameter, index});
      before.clear();
    } else {
      parts_.push_back({std::move(before), names.bind(value)});
      before.clear();
    }
  }
  parts_.push_back({before + std::string(rest)});
}

void EntryName::add_to(Schedule& schedule, const NameTable& names) const {
  for (const Part& part : parts_) names.add_to(schedule, part.number);
}

std::string EntryName::text(const FormulaValues& values, const std::string& key) const {
  std::string text;
  for (const Part& part : parts_) {
    text += part.before;
    if (part.parameter) {
      text += source_text(part.parameter->values[values.levels()[part.index]], part.parameter->form,
                          part.parameter->texts);
    } else if (part.number) {
      const std::int64_t value = values.value(*part.number, [&] { return key + ".entry"; });
      const bool is_real = part.number->expression().kind() == ValueKind::real;
      text += is_real ? real_text(values.number(*part.number)) : std::to_string(value);
    }
  }
  return text;
}

OptionTexts::OptionTexts(const Target& target, const Problem& problem,
                         std::span<const OptionSpec> options, NameTable& names) {
  for (const OptionSpec& each : options) {
    all_.push_back({{target, problem, each.text, each.values, names}, names.bind(each.when)});
  }
}

void OptionTexts::add_to(Schedule& schedule, const NameTable& names) const {
  for (const One& each : all_) {
    each.text.add_to(schedule, names);
    names.add_to(schedule, each.when);
  }
}

std::vector<std::string> OptionTexts::texts(const FormulaValues& values,
                                            const std::string& key) const {
  std::vector<std::string> texts;
  for (const One& each : all_) {
    if (values.holds(each.when, [&] { return key; })) texts.push_back(each.text.text(values, key));
  }
  return texts;
}

Command command_of(const Target& target, std::vector<std::string> words) {
  namespace fs = std::filesystem;
  const std::string source = fs::absolute(target.source_path).lexically_normal().string();
  for (std::string& word : words) replace_all(word, "{source}", source);
  const fs::path folder = fs::absolute(target.manifest).lexically_normal().parent_path();
  return {std::move(words), folder, target.time, target.limit_seconds};
}

}  // namespace autotune
