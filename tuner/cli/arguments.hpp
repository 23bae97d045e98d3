// SPDX-License-Identifier: Apache-2.0
// The arguments of one verb, parsed against its options.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/cli/verb.hpp"

namespace autotune::cli {

class Arguments {
 public:
  /// Throws UsageError for an unknown option (with near names), a missing or repeated value, or an
  /// unexpected positional argument.
  Arguments(const Verb& verb, const std::vector<std::string>& words);

  bool has(std::string_view option) const;
  /// The given value, else the option's default, else nullopt.
  std::optional<std::string> find(std::string_view option) const;
  /// Like find(), but throws UsageError that names the option if there is no value.
  std::string text(std::string_view option) const;
  /// Throws UsageError unless the value is an integer in [low, high].
  std::int64_t integer(std::string_view option, std::int64_t low, std::int64_t high) const;
  /// Every value of a repeatable option.
  std::vector<std::string> all(std::string_view option) const;
  const std::vector<std::string>& positional() const { return positional_; }
  const Verb& verb() const { return verb_; }

 private:
  const Verb& verb_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> positional_;
};

}  // namespace autotune::cli
