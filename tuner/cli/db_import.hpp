// SPDX-License-Identifier: Apache-2.0
// Stored facts of earlier targets, as today's manifests call them. Goes with target/old_names.hpp.
#pragma once

#include <map>
#include <string>

#include "db/exchange.hpp"
#include "tuner/cli/answer_judge.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/old_names.hpp"

namespace autotune::cli {

/// Concerned are targets with an old name, sources that are known to be the same, and targets that
/// have more sizes now, each with a default. A fact keeps its fingerprint unless its source is the
/// same: then it is of the target as it was, and evidence for near problems only.
class TodaysNames : public db::NewNames {
 public:
  /// `judge` must outlive it.
  explicit TodaysNames(AnswerJudge& judge) : judge_(judge) {}

  bool concern(const db::KernelRow& kernel) override;
  bool renew(db::KernelRow& kernel, std::string& problem, std::string& configuration) override;

 private:
  const OldName* old_of(const std::string& target);
  const Target* target_of(const std::string& name);
  const TargetProgram& program_of(const Target& target, const NamedValues& settings);

  AnswerJudge& judge_;
  std::map<std::string, const OldName*> old_;
  std::map<std::string, TargetProgram> programs_;  // with given sizes, by target and settings
};

}  // namespace autotune::cli
