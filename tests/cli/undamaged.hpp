// SPDX-License-Identifier: Apache-2.0
// The answers of a database before it was damaged, compared with its answers now.
#pragma once

#include <map>
#include <string>

#include "tests/cli/tool.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {

class Undamaged {
 public:
  /// Reads all answers and facts.
  Undamaged(const Sandbox& sandbox, const std::string& database);

  /// Each function returns one sentence about a wrong output; empty if all is well. For
  /// `query --json`: each answer was given before.
  std::string fault_of_answers(const Ended& query) const;
  /// The same for a query of everything: warnings name the missing answers.
  std::string fault_of_all_answers(const Ended& query) const;
  /// The same after answers were derived again: each matches a fact.
  std::string fault_of_derived(const Ended& query) const;
  /// For an export: each line was there before, and warnings name the missing ones.
  static std::string fault_of_lines(const Ended& now, const Ended& before);
  /// For an explanation: problem, configuration and time are the same, or a warning says why not.
  static std::string fault_of_report(const Ended& now, const Ended& before);

  const std::map<std::string, Json>& facts() const { return facts_; }

 private:
  std::map<std::string, Json> answers_;  // by device, problem and policy
  std::map<std::string, Json> facts_;    // by id
};

}  // namespace autotune::testing
