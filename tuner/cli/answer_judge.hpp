// SPDX-License-Identifier: Apache-2.0
// Decides whether stored answers are still valid configurations of their targets.
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

/// Describes what in `values` the target's parameters do not have; empty if they have everything.
std::string foreign_part(const Target& target, const NamedValues& values);

/// Reads each target once: the manifest of --target, else the target that `find` returns for this
/// name.
class AnswerJudge {
 public:
  using Find = std::function<Target(const std::string& name)>;
  explicit AnswerJudge(const Arguments& arguments, Find find = find_target);

  /// The current target; nullptr if it is not found.
  const Target* target_called(const std::string& name);
  /// The target of an entry; nullptr if it is not found or has changed since.
  const Target* target_of(const db::TunedEntry& entry);
  /// Whether the target's parameters or constraints have changed since the search.
  bool space_changed(const db::TunedEntry& entry);

  /// Why its configuration is not valid for its problem on its device. Empty if it is valid, or if
  /// the target or the device is unknown here.
  std::string complaint(const db::TunedEntry& entry);

 private:
  const TargetProgram* program_for(const Target& target, const db::TunedEntry& entry);

  Find find_;
  std::string manifest_;  // of --target
  std::map<std::string, std::optional<Target>> targets_;
  using Place = std::tuple<std::string, std::string, std::string>;  // kernel, device, settings
  std::map<Place, std::optional<TargetProgram>> programs_;          // with given sizes
};

/// Leaves out invalid answers of the store while the judge lives, and those that another database
/// refutes.
void use_valid_only(db::TunedStore& store, AnswerJudge& judge,
                    const db::TunedStore* other = nullptr);

}  // namespace autotune::cli
