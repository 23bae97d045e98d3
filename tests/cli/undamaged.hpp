// SPDX-License-Identifier: Apache-2.0
// What a database told before it was damaged, and whether what it tells now is still that.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tests/cli/tool.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {

class Undamaged {
 public:
  /// Asks for all answers and facts.
  Undamaged(const Sandbox& sandbox, const std::string& database);

  /// Each returns a sentence about what is served and should not be; empty when all is well.
  /// Of `query --json`: each answer is one that was given before.
  std::string fault_of_answers(const Ended& query) const;
  /// The same where everything was asked for: warnings miss the answers that are gone.
  std::string fault_of_all_answers(const Ended& query) const;
  /// The same after answers were derived anew: each says what a fact says.
  std::string fault_of_derived(const Ended& query) const;
  /// Of an export: each line was there before, and warnings miss those that are gone.
  static std::string fault_of_lines(const Ended& now, const Ended& before);
  /// Of an explanation: problem, configuration and time are the same, or a warning says why not.
  static std::string fault_of_report(const Ended& now, const Ended& before);

  const std::map<std::string, Json>& facts() const { return facts_; }

 private:
  std::map<std::string, Json> answers_;  // by device, problem and policy
  std::map<std::string, Json> facts_;    // by id
};

}  // namespace autotune::testing
