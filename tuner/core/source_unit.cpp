// SPDX-License-Identifier: Apache-2.0
// The text that a compiler gets for one configuration.
#include <algorithm>
#include <limits>

#include "tuner/core/target.hpp"
#include "tuner/core/target_scope.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// A name as a macro has it: upper case, `_` for what no identifier may have.
std::string macro_name(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool kept = lower || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    text += !kept ? '_' : lower ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return text;
}

std::string literal(std::int64_t value) {
  const bool is_int = value >= std::numeric_limits<std::int32_t>::min() &&
                      value <= std::numeric_limits<std::int32_t>::max();
  const std::string digits = std::to_string(value) + (is_int ? "" : "LL");
  return value < 0 ? "(" + digits + ")" : digits;
}

/// Of a word that a setting or parameter may be: `PREFETCH_NONE`.
std::string word_macro(const std::string& macro, const Value& word) {
  return macro_name(macro + '_' + word.word());
}

std::string size_macro(const std::string& size) { return "SIZE_" + size; }

void define(std::string& prelude, std::string_view name, std::string_view text) {
  prelude += format("#define {} {}\n", name, text);
}

/// One macro a word, numbered, and unless `chosen` is null the macro itself.
void define_choice(std::string& prelude, const std::string& macro, const std::vector<Value>& values,
                   const Value* chosen) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_word()) {
      define(prelude, word_macro(macro, values[i]), std::to_string(i));
    }
  }
  if (!chosen) return;
  define(prelude, macro,
         chosen->is_word() ? word_macro(macro, *chosen) : literal(chosen->integer()));
}

}  // namespace

SourceUnit source_unit(const Target& target, const Problem& problem,
                       const Configuration& configuration, const DeviceInfo& device) {
  const TargetScope scope(target, problem, device, &configuration);
  std::string prelude;
  for (const Setting& setting : target.settings) {
    define_choice(prelude, macro_name(setting.name), setting.values, scope.find(setting.name));
  }
  for (const Parameter& parameter : target.parameters) {
    define_choice(prelude, parameter.name, parameter.values,
                  parameter.run_time ? nullptr : scope.find(parameter.name));
  }
  for (const DefineSpec& each : target.defines) {
    define(prelude, each.name, literal(scope.scope()[each.name]));
  }
  if (target.bake_sizes && scope.holds("bake_sizes", target.bake_sizes)) {
    for (const std::string& size : target.sizes) {
      define(prelude, size_macro(size), literal(scope.scope()[size]));
    }
  }
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < target.kernels.size(); ++i) {
    const KernelSpec& kernel = target.kernels[i];
    const bool known = std::find(entries.begin(), entries.end(), kernel.entry) != entries.end();
    if (!known && scope.holds(format("kernels[{}].when", i), kernel.when)) {
      entries.push_back(kernel.entry);
    }
  }
  return {target.source_path.filename().string(),
          std::move(prelude),
          target.source_text,
          target.include_folders,
          target.options,
          std::move(entries)};
}

std::vector<Macro> macros_of(const Target& target) {
  std::vector<Macro> macros;
  const auto add = [&](const std::string& owner, const std::string& macro,
                       const std::vector<Value>& values, bool whole) {
    if (whole) macros.push_back({macro, owner});
    for (const Value& value : values) {
      if (value.is_word()) macros.push_back({word_macro(macro, value), owner});
    }
  };
  for (const Setting& setting : target.settings) {
    add("setting " + setting.name, macro_name(setting.name), setting.values, true);
  }
  for (const Parameter& parameter : target.parameters) {
    add("parameter " + parameter.name, parameter.name, parameter.values, !parameter.run_time);
  }
  for (const DefineSpec& each : target.defines) add("define " + each.name, each.name, {}, true);
  for (const std::string& size : target.sizes) {
    if (target.bake_sizes) add("bake_sizes", size_macro(size), {}, true);
  }
  return macros;
}

}  // namespace autotune
