// SPDX-License-Identifier: Apache-2.0
// The name of a kernel in a configuration: `filter`, or `conv::filter<float, 128>`. Used by
// tuner/core only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/core/formula_values.hpp"
#include "tuner/core/name_table.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

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

}  // namespace autotune
