// SPDX-License-Identifier: Apache-2.0
// Values of a target's formulas for one configuration, with errors that name the key. Used by
// tuner/core only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/name_table.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// The target, problem and configuration of a computation, which errors name.
struct Question {
  const Target& target;
  const Problem& problem;
  std::span<const std::uint16_t> levels;  // empty without a configuration

  /// Throws Error with the manifest, `key` (`kernels[0].grid[1]`), what is wrong and the values.
  [[noreturn]] void fail(const std::string& key, const std::string& what) const;
};

/// Each function throws Error, as Question::fail(), if a formula has no value or one that is not
/// allowed.
class FormulaValues {
 public:
  FormulaValues(const NameTable& names, const Slots& slots, const Question& question)
      : names_(names), slots_(slots), question_(question) {}

  /// `key` returns the key's text; it is called for errors only.
  template <class Key>
  std::int64_t value(const Formula& formula, const Key& key) const {
    if (const auto value = formula.value(slots_)) return *value;
    fail(key(), names_.explain(formula, slots_).what());
  }
  template <class Key>
  std::int64_t at_least(std::int64_t least, const Formula& formula, const Key& key) const {
    const std::int64_t value = this->value(formula, key);
    if (value < least) refuse(formula, value, least, key());
    return value;
  }
  /// True without a condition.
  template <class Key>
  bool holds(const std::optional<Formula>& condition, const Key& key) const {
    return !condition || value(*condition, key) != 0;
  }
  template <class Key>
  void require(ElementType type, std::int64_t value, const Key& key) const {
    if (!autotune::holds(type, value)) refuse(type, value, key());
  }
  /// The value of an integer or real formula as a double.
  double number(const Formula& formula) const { return names_.number(formula, slots_); }

  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    question_.fail(key, what);
  }
  std::span<const std::uint16_t> levels() const { return question_.levels; }

 private:
  [[noreturn]] void refuse(const Formula& formula, std::int64_t value, std::int64_t least,
                           const std::string& key) const;
  [[noreturn]] void refuse(ElementType type, std::int64_t value, const std::string& key) const;

  const NameTable& names_;
  const Slots& slots_;
  const Question& question_;
};

// The name of a kernel in a configuration: `filter`, or `conv::filter<float, 128>`. Used by
// tuner/core only.

/// A word in C++ source. Not for words that are numbers.
std::string source_text(const Value& word, WordForm form, const WordTexts& texts);

class EntryName {
 public:
  /// The target must outlive it.
  /// `values` has one for each `{}` of the text.
  EntryName(const Target& target, const Problem& problem, std::string_view text,
            const std::vector<Expression>& values, NameTable& names);

  void add_to(Schedule& schedule, const NameTable& names) const;
  /// Throws Error with `key` if a value cannot be computed.
  std::string text(const FormulaValues& values, const std::string& key) const;

 private:
  /// A literal text, then a number, the word of a parameter, or nothing.
  struct Part {
    std::string before;
    std::optional<Formula> number = {};
    const Parameter* parameter = nullptr;
    std::size_t index = 0;  // of the parameter
  };

  std::vector<Part> parts_;
};

/// Options of a compiler, or words of a command, some of which depend on the configuration.
class OptionTexts {
 public:
  /// The target must outlive it.
  OptionTexts(const Target& target, const Problem& problem, std::span<const OptionSpec> options,
              NameTable& names);

  void add_to(Schedule& schedule, const NameTable& names) const;
  /// Those whose condition holds. Throws Error with `key` if a value cannot be computed.
  std::vector<std::string> texts(const FormulaValues& values, const std::string& key) const;

 private:
  struct One {
    EntryName text;
    std::optional<Formula> when;
  };
  std::vector<One> all_;
};

/// The command of these words. `{source}` is the path of the target's source.
Command command_of(const Target& target, std::vector<std::string> words);

}  // namespace autotune
