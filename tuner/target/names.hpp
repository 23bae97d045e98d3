// SPDX-License-Identifier: Apache-2.0
// The names that a manifest declares, and which of them an expression may hold.
#pragma once

#include <set>
#include <string>

#include "tuner/target/node.hpp"

namespace autotune {

/// What a name hangs on. Arguments are no part of expressions.
enum class NameLevel : std::uint8_t { problem, configuration, argument };

class Names {
 public:
  /// Starts with the `device.` names.
  Names();

  /// Returns the name; throws Error when it is taken.
  std::string declare(const Node& node, const std::string& name, NameLevel level);
  void add_word(const std::string& word, NameLevel level);

  /// For what must be known without a configuration: lengths, work.
  const Vocabulary& per_problem() const { return per_problem_; }
  /// For everything else.
  const Vocabulary& all() const { return all_; }

 private:
  Vocabulary per_problem_, all_;
  std::set<std::string> declared_;
};

}  // namespace autotune
