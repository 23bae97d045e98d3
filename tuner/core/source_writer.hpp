// SPDX-License-Identifier: Apache-2.0
// The text that a compiler gets for one configuration of a target. Used by tuner/core only.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "tuner/core/formula_values.hpp"
#include "tuner/core/name_table.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// The macro of a name: upper case, with `_` for characters that an identifier cannot have.
std::string macro_name(std::string_view name);

class SourceWriter {
 public:
  /// Target, problem and names must outlive it.
  SourceWriter(const Target& target, const Problem& problem, NameTable& names);

  SourceUnit unit(std::span<const std::uint16_t> levels) const;
  /// That of the reference, with the macros of a configuration.
  SourceUnit reference_unit(std::span<const std::uint16_t> levels) const;

 private:
  SourceUnit unit_of(std::span<const std::uint16_t> levels, const OptionTexts* build) const;
  struct Define {
    std::string name;
    Formula value;
    std::optional<Formula> when;
  };

  struct Kernel {
    std::string name;  // without values
    EntryName entry;
    std::optional<Formula> when, cooperative, repeat;
  };

  std::string prelude(const FormulaValues& values) const;
  void add_entries(SourceUnit& unit, const FormulaValues& values, Slots& slots) const;
  /// Sets `turn` and `turns` to those of its first launch. False if there is none.
  bool find_launch(const Kernel& kernel, const std::string& key, const FormulaValues& values,
                   Slots& slots) const;

  const Target& target_;
  const Problem& problem_;
  const NameTable& names_;
  const std::uint32_t turn_, turns_;  // slots
  std::vector<Define> defines_;
  std::vector<std::optional<Formula>> parameter_whens_;
  std::vector<Kernel> kernels_;  // of calls, then check kernels
  OptionTexts options_;
  std::optional<OptionTexts> build_, reference_build_;
  std::vector<std::filesystem::path> data_files_;
  std::optional<Formula> bake_sizes_;
  Schedule schedule_;
};

}  // namespace autotune
