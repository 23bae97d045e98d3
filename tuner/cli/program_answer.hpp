// SPDX-License-Identifier: Apache-2.0
// What a program with libautotune gets, by the function that libautotune calls.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tuner/answer/target_lookup.hpp"
#include "tuner/cli/answer_judge.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/core/device.hpp"

namespace autotune::cli {

struct ProgramAnswer {
  const TargetLookup* lookup = nullptr;  // it knows the texts
  LookupAnswer answer;
  Problem problem;
};

/// Reads each target's layers once: the user's database and what is shipped, with --db that file
/// only.
class ProgramAnswers {
 public:
  /// The judge must outlive it.
  ProgramAnswers(const Arguments& arguments, AnswerJudge& judge);
  /// In these layers only.
  ProgramAnswers(AnswerJudge& judge, std::vector<db::Layer> layers)
      : judge_(judge), layers_(std::move(layers)) {}

  /// For these sizes with the settings, the policy and the device of a stored result. Throws Error
  /// if a program gets none; `lookup` is nullptr where the target is not known here.
  ProgramAnswer find(const db::TunedEntry& like, const NamedValues& sizes);
  /// The same for a device of which nothing need be stored.
  ProgramAnswer find(const Target& target, const NamedValues& settings, const DeviceInfo& device,
                     const std::string& policy, const NamedValues& sizes);

 private:
  AnswerJudge& judge_;
  std::vector<db::Layer> layers_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>,
           std::unique_ptr<TargetLookup>>
      asked_;
};

/// Whether a look-up at the problem of this stored result answers with it. Where its target is not
/// known here, whether it may be an answer.
bool is_given(const db::TunedEntry& entry, const ProgramAnswer& given);

/// Keeps what is_given(), and says on stderr what it leaves out.
void keep_given(std::vector<db::TunedEntry>& entries, ProgramAnswers& programs);

/// One line: `gemm KERNEL=split BM=128 …, 23.76 us`, or `cublas, 8.900 us expected`.
std::string one_line(const ProgramAnswer& given);

}  // namespace autotune::cli
