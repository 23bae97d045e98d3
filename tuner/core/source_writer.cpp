// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/source_writer.hpp"

#include <algorithm>
#include <limits>

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// C++ has no negative literals, so the least integer is written as a difference.
std::string literal(std::int64_t value) {
  constexpr std::int64_t kLeastInt = std::numeric_limits<std::int32_t>::min();
  const bool is_int = value >= kLeastInt && value <= std::numeric_limits<std::int32_t>::max();
  const bool is_least = value == kLeastInt || value == std::numeric_limits<std::int64_t>::min();
  const std::string digits = std::to_string(is_least ? value + 1 : value) + (is_int ? "" : "LL");
  if (is_least) return "(" + digits + " - 1)";
  return value < 0 ? "(" + digits + ")" : digits;
}

/// The macro of one word of a setting or parameter: `PREFETCH_NONE`.
std::string word_macro(const std::string& macro, const Value& word) {
  return macro_name(macro + '_' + word.word());
}

std::string size_macro(const Target& target, const std::string& size) {
  std::string macro = target.size_macros;
  return macro.replace(macro.find('*'), 1, size);
}

void define(std::string& prelude, std::string_view name, std::string_view text) {
  prelude += format("#define {} {}\n", name, text);
}

std::string literal(double value) {
  return value < 0 ? "(" + real_text(value) + ")" : real_text(value);
}

std::string macro_text(const std::string& macro, const Value& value, WordForm form,
                       const WordTexts& texts) {
  if (value.is_real()) return literal(value.real());
  if (value.is_integer()) return literal(value.integer());
  return form == WordForm::number ? word_macro(macro, value) : source_text(value, form, texts);
}

/// Defines a numbered macro for each word, if words are numbers. Defines the macro itself unless
/// `chosen` is null.
void define_choice(std::string& prelude, const std::string& macro, const std::vector<Value>& values,
                   const Value* chosen, WordForm form, const WordTexts& texts) {
  for (std::size_t i = 0; i < values.size() && form == WordForm::number; ++i) {
    if (values[i].is_word()) {
      define(prelude, word_macro(macro, values[i]), std::to_string(i));
    }
  }
  if (chosen) define(prelude, macro, macro_text(macro, *chosen, form, texts));
}

std::string source_of_family(const Target& target, std::span<const std::uint16_t> levels) {
  if (target.family_sources.empty()) return target.source_text;
  return target.source_text + target.family_sources[levels[*target.family]].text;
}

}  // namespace

std::string macro_name(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool kept = lower || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    text += !kept ? '_' : lower ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return text;
}

SourceWriter::SourceWriter(const Target& target, const Problem& problem, NameTable& names)
    : target_(target),
      problem_(problem),
      names_(names),
      turn_(names.variable(kTurn)),
      turns_(names.variable(kTurns)),
      options_(target, problem, target.configured_options, names) {
  const auto bound = [&](const std::optional<Expression>& expression) {
    auto formula = names.bind(expression);
    names.add_to(schedule_, formula);
    return formula;
  };
  for (const Parameter& parameter : target.parameters) {
    parameter_whens_.push_back(bound(parameter.macro_when));
  }
  for (const DefineSpec& each : target.defines) {
    if (!each.is_macro) continue;
    defines_.push_back({short_name(each.name), *bound(each.value), bound(each.when)});
  }
  for (const auto* const kernels : {&target.kernels, &target.check_kernels}) {
    for (const KernelSpec& each : *kernels) {
      kernels_.push_back({each.entry,
                          {target, problem, each.entry, each.entry_values, names},
                          bound(each.when),
                          bound(each.cooperative),
                          bound(each.repeat)});
      kernels_.back().entry.add_to(schedule_, names);
    }
  }
  options_.add_to(schedule_, names);
  const auto bind_build = [&](const std::optional<CommandSpec>& words,
                              std::optional<OptionTexts>& build) {
    if (words) build.emplace(target, problem, *words, names).add_to(schedule_, names);
  };
  bind_build(target.build, build_);
  bind_build(target.reference.build, reference_build_);
  if (!target.reference.file.empty()) data_files_.push_back(target.reference.file);
  for (const ArgumentSpec& each : target.arguments) {
    if (each.file) data_files_.push_back(each.file->path);
  }
  bake_sizes_ = bound(target.bake_sizes);
  std::ranges::sort(schedule_);  // a definition uses earlier ones only
}

SourceUnit SourceWriter::unit(std::span<const std::uint16_t> levels) const {
  return unit_of(levels, build_ ? &*build_ : nullptr);
}

SourceUnit SourceWriter::reference_unit(std::span<const std::uint16_t> levels) const {
  SourceUnit unit = unit_of(levels, reference_build_ ? &*reference_build_
                                    : build_         ? &*build_
                                                     : nullptr);
  unit.options = target_.options;
  return unit;
}

SourceUnit SourceWriter::unit_of(std::span<const std::uint16_t> levels,
                                 const OptionTexts* build) const {
  Slots slots = names_.slots(levels, {}, schedule_);
  const Question question{target_, problem_, levels};
  const FormulaValues values(names_, slots, question);
  SourceUnit unit{target_.source_path.filename().string(),
                  build ? std::string() : target_.system_includes + prelude(values),
                  source_of_family(target_, levels),
                  target_.include_folders,
                  target_.options,
                  {},
                  data_files_};
  if (build) {
    unit.build = command_of(target_, build->texts(values, "build"));
    unit.prelude = shell_text(*unit.build);  // by which units of a target differ
    return unit;
  }
  add_entries(unit, values, slots);
  for (std::string& option : options_.texts(values, "options")) {
    unit.options.push_back(std::move(option));
  }
  return unit;
}

void SourceWriter::add_entries(SourceUnit& unit, const FormulaValues& values, Slots& slots) const {
  const auto add = [](std::vector<std::string>& entries, const std::string& entry) {
    if (std::ranges::find(entries, entry) == entries.end()) entries.push_back(entry);
  };
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const std::string key = format("kernels[{}]", i);
    const Kernel& kernel = kernels_[i];
    if (!find_launch(kernel, key, values, slots)) {
      if (kernel.cooperative) add(unit.cooperative, kernel.name);
      continue;
    }
    const std::string entry = kernel.entry.text(values, key);
    add(unit.entries, entry);
    const bool is_cooperative = kernel.cooperative && values.holds(kernel.cooperative, [&] {
      return key + ".cooperative";
    });
    if (is_cooperative) add(unit.cooperative, entry);
  }
}

bool SourceWriter::find_launch(const Kernel& kernel, const std::string& key,
                               const FormulaValues& values, Slots& slots) const {
  const auto is_launched = [&] { return values.holds(kernel.when, [&] { return key + ".when"; }); };
  if (!kernel.repeat) return is_launched();
  const std::int64_t turns = values.at_least(0, *kernel.repeat, [&] { return key + ".repeat"; });
  const bool depends_on_turn =
      kernel.when && std::ranges::find(kernel.when->slots(), turn_) != kernel.when->slots().end();
  slots.values[turns_] = turns;
  for (std::int64_t turn = 0; turn < (depends_on_turn ? turns : std::min<std::int64_t>(turns, 1));
       ++turn) {
    slots.values[turn_] = turn;
    if (is_launched()) return true;
  }
  return false;
}

std::string SourceWriter::prelude(const FormulaValues& values) const {
  std::string prelude;
  for (const Setting& setting : target_.settings) {
    define_choice(prelude, macro_name(setting.name), setting.values,
                  find_value(problem_.values, setting.name), setting.form, setting.texts);
  }
  for (std::size_t i = 0; i < target_.parameters.size(); ++i) {
    const Parameter& parameter = target_.parameters[i];
    const auto key = [&] { return format("parameters.{}.when", parameter.name); };
    if (!values.holds(parameter_whens_[i], key)) continue;
    define_choice(prelude, parameter.name, parameter.values,
                  parameter.run_time ? nullptr : &parameter.values[values.levels()[i]],
                  parameter.form, parameter.texts);
  }
  for (const Define& each : defines_) {
    const auto key = [&] { return "defines." + each.name; };
    if (!values.holds(each.when, key)) continue;
    const bool is_real = each.value.expression().kind() == ValueKind::real;
    const std::int64_t value = values.value(each.value, key);
    define(prelude, each.name, is_real ? literal(values.number(each.value)) : literal(value));
  }
  if (bake_sizes_ && values.holds(bake_sizes_, [] { return std::string("bake_sizes"); })) {
    for (const std::string& size : target_.sizes) {
      define(prelude, size_macro(target_, size),
             literal(find_value(problem_.values, size)->integer()));
    }
  }
  return prelude;
}

std::string all_sources(const Target& target) {
  std::string text = target.source_text;
  for (const FamilySource& each : target.family_sources) text += each.text;
  return text;
}

namespace {

/// The names of the families that have a parameter; an empty one if all have it.
std::vector<std::string> families_of(const Target& target, const Parameter& parameter) {
  if (parameter.family_levels.empty()) return {""};
  std::vector<std::string> families;
  for (std::size_t i = 0; i < parameter.family_levels.size(); ++i) {
    if (parameter.family_levels[i].empty()) continue;
    families.push_back(target.parameters[*target.family].values[i].word());
  }
  return families;
}

}  // namespace

std::vector<Macro> macros_of(const Target& target) {
  std::vector<Macro> macros;
  const auto add = [&](const std::string& owner, const std::string& macro,
                       const std::vector<Value>& values, bool whole, const std::string& family,
                       WordForm form = WordForm::number) {
    if (whole) macros.push_back({macro, owner, family});
    for (const Value& value : values) {
      if (value.is_word() && form == WordForm::number)
        macros.push_back({word_macro(macro, value), owner, family});
    }
  };
  for (const Setting& setting : target.settings) {
    add("setting " + setting.name, macro_name(setting.name), setting.values, true, "",
        setting.form);
  }
  for (const Parameter& parameter : target.parameters) {
    for (const std::string& family : families_of(target, parameter)) {
      add("parameter " + parameter.name, parameter.name, parameter.values, !parameter.run_time,
          family, parameter.form);
    }
  }
  for (const DefineSpec& each : target.defines) {
    const std::string name = short_name(each.name);
    const std::string family =
        each.name.size() == name.size() ? "" : each.name.substr(0, each.name.rfind('.'));
    if (each.is_macro) add("define " + name, name, {}, true, family);
  }
  for (const std::string& size : target.sizes) {
    if (target.bake_sizes) add("bake_sizes", size_macro(target, size), {}, true, "");
  }
  return macros;
}

}  // namespace autotune
