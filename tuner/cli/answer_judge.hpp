// SPDX-License-Identifier: Apache-2.0
// Whether what a database answers is still a configuration of its target.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "db/store.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/catalog.hpp"

namespace autotune::cli {

/// Which of these is no value of a parameter of the target; empty where all are.
std::string foreign_part(const Target& target, const NamedValues& values);

/// Reads each target once: a manifest that --target names, else what `find` has by that name.
class AnswerJudge {
 public:
  using Find = std::function<Target(const std::string& name)>;
  explicit AnswerJudge(const Arguments& arguments, Find find = find_target);

  /// The target as it is now; nullptr where it is not at hand.
  const Target* target_called(const std::string& name);
  /// The target of an entry as it was tuned; nullptr where it is not at hand, or has changed since.
  const Target* target_of(const db::TunedEntry& entry);

  /// Why its configuration is not valid for its problem on its device; empty where it is, and where
  /// nobody can tell: the target or the device is not known here.
  std::string complaint(const db::TunedEntry& entry);

 private:
  const TargetProgram* program_for(const Target& target, const db::TunedEntry& entry);

  Find find_;
  std::string manifest_;  // that --target names
  std::map<std::string, std::optional<Target>> targets_;
  using Place = std::tuple<std::string, std::string, std::string>;  // kernel, device, settings
  std::map<Place, std::optional<TargetProgram>> programs_;          // with given sizes
};

/// From now on, until the judge goes, the store's answers are those that it has no complaint about.
void use_valid_only(db::TunedStore& store, AnswerJudge& judge);

}  // namespace autotune::cli
