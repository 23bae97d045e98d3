// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/answer_judge.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tuner/answer/sized_target.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"
#include "tuner/target/old_names.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

std::vector<std::int64_t> numbers_of(const NamedValues& sizes) {
  std::vector<std::int64_t> numbers;
  for (const NamedValue& size : sizes) numbers.push_back(size.value.integer());
  return numbers;
}

}  // namespace

std::string foreign_part(const Target& target, const NamedValues& values) {
  for (const NamedValue& given : values) {
    const auto parameter = std::ranges::find(target.parameters, given.name, &Parameter::name);
    if (parameter == target.parameters.end()) {
      return format("{} has no parameter {}", target.name, given.name);
    }
    if (std::ranges::find(parameter->values, given.value) == parameter->values.end()) {
      return format("{} of {} has no value {}", given.name, target.name, given.value.text());
    }
  }
  return "";
}

AnswerJudge::AnswerJudge(const Arguments& arguments, Find find) : find_(std::move(find)) {
  const std::string target = arguments.find("target").value_or("");
  if (is_manifest_path(target)) manifest_ = target;
}

const Target* AnswerJudge::target_called(const std::string& name) {
  const auto [found, is_new] = targets_.try_emplace(name);
  std::optional<Target>& target = found->second;
  if (is_new) {
    try {
      if (!manifest_.empty()) target = find_(manifest_);
      const bool is_it = target && target->name == name;
      if (is_manifest_path(name)) {  // a name in a database is never taken for a path
        target.reset();
      } else if (!is_it) {
        target = find_(name);
      }
    } catch (const Error&) {  // the user's own target, in an unknown place
      target.reset();
    }
  }
  return target ? &*target : nullptr;
}

const Target* AnswerJudge::target_of(const db::TunedEntry& entry) {
  const Target* const target = target_called(entry.kernel.target);
  return target && target->fingerprint == entry.kernel.fingerprint ? target : nullptr;
}

bool AnswerJudge::space_changed(const db::TunedEntry& entry) {
  const Target* const target = target_of(entry);
  const std::string& searched = entry.session.space;
  return target && !searched.empty() && !is_same_space(searched, target->space_fingerprint);
}

const TargetProgram* AnswerJudge::program_for(const Target& target, const db::TunedEntry& entry) {
  const EntryProblem problem = problem_of(entry);
  const auto [found, is_new] =
      programs_.try_emplace({entry.kernel.id, entry.device.id, to_text(problem.settings)});
  if (is_new) {
    const Problem whole{parse_named_values(entry.best.key.problem)};
    try {
      found->second.emplace(target, whole, device_of(entry.device), SizeBinding::given);
    } catch (const Error&) {  // settings of another target
      return nullptr;
    }
  }
  return found->second ? &*found->second : nullptr;
}

std::string AnswerJudge::complaint(const db::TunedEntry& entry) {
  const Target* const target = target_of(entry);
  if (!target) return "";
  const std::string& text = entry.best.configuration;
  const Configuration configuration = parse_named_values(text);
  const std::string foreign = foreign_part(*target, configuration);
  if (!foreign.empty()) return format("{} cannot be used: {}", text, foreign);
  const auto levels = levels_of(target->parameters, configuration);
  if (!levels)
    return format("\"{}\" cannot be used: it lacks parameters of {}", text, target->name);
  const TargetProgram* const program = program_for(*target, entry);
  if (!program || is_valid(*program, *levels, numbers_of(problem_of(entry).sizes))) return "";
  return format("{} is not valid for this problem on {}: it breaks a constraint of {}", text,
                entry.device.name, target->name);
}

void use_valid_only(db::TunedStore& store, AnswerJudge& judge, const db::TunedStore* other) {
  const auto refuted = other ? other->refuter() : [](const db::TunedEntry&) { return ""; };
  store.leave_out([&judge, refuted](const db::TunedEntry& entry) {
    const std::string complaint = judge.complaint(entry);
    return complaint.empty() ? refuted(entry) : complaint;
  });
}

}  // namespace autotune::cli
