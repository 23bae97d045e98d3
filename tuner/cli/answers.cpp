// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/answers.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "tuner/cli/request.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"

namespace autotune::cli {
namespace {

std::vector<Answer> answers_to(const Arguments& arguments, const db::TunedStore& store) {
  std::vector<Answer> answers;
  if (arguments.has("size")) {
    for (Nearest& near : nearest_entries(arguments, store)) {
      answers.push_back({std::move(near.entry), std::move(near.asked), near.distance});
    }
  } else {
    for (db::TunedEntry& entry : chosen_entries(arguments, store)) {
      answers.push_back({std::move(entry), std::nullopt, 0});
    }
  }
  return answers;
}

/// The problem and device that an answer is for. Of two answers with the same, one is kept.
std::string question_of(const Answer& answer) {
  const db::TunedEntry& entry = answer.entry;
  const std::string sizes = to_text(answer.asked ? *answer.asked : problem_of(entry).sizes);
  return joined(
      std::vector<std::string>{entry.kernel.target, entry.device.name, sizes,
                               to_text(problem_of(entry).settings), entry.best.key.policy},
      "; ");
}

/// Whether the configuration of a near size failed for the sizes that were asked about.
bool failed_there(const Answer& answer, const db::TunedStore& store) {
  if (answer.distance == 0) return false;
  db::ProblemKey key = answer.entry.best.key;
  NamedValues problem = *answer.asked;
  for (const NamedValue& each : problem_of(answer.entry).settings) problem.push_back(each);
  key.problem = to_text(problem);
  const std::vector<db::TrialRow> there = store.history(key);
  const auto last = std::find_if(there.rbegin(), there.rend(), [&](const db::TrialRow& trial) {
    return trial.configuration == answer.entry.best.configuration;
  });
  return last != there.rend() && last->outcome != "ok" && last->outcome != "pruned";
}

/// Prefers answers for the current kernel, then nearer ones, then the user's.
bool is_better(const Answer& one, const Answer& other) {
  return std::tie(one.stale, one.distance) < std::tie(other.stale, other.distance);
}

/// Adds shipped answers, only for the user's devices if there are any.
void add_shipped(std::vector<Answer>& answers, std::vector<Answer> shipped) {
  std::set<std::string> devices;
  for (const Answer& one : answers) devices.insert(one.entry.device.name);
  for (Answer& one : shipped) {
    if (!devices.empty() && !devices.contains(one.entry.device.name)) continue;
    const auto own = std::ranges::find(answers, question_of(one), question_of);
    if (own == answers.end()) {
      answers.push_back(std::move(one));
    } else if (is_better(one, *own)) {
      *own = std::move(one);
    }
  }
}

}  // namespace

Databases::Databases(const Arguments& arguments, AnswerJudge& judge)
    : arguments_(arguments), judge_(judge), shipped_(shipped_store(arguments)) {
  if (!shipped_ || std::filesystem::exists(database_path(arguments))) {
    own_ = open_store(arguments, db::Mode::read_only);
  }
  const auto leave_out = [&](std::optional<db::TunedStore>& store,
                             const std::optional<db::TunedStore>& other) {
    if (store) use_valid_only(*store, judge, other ? &*other : nullptr);
  };
  leave_out(own_, shipped_);
  leave_out(shipped_, own_);
}

std::vector<Answer> Databases::answers() {
  std::vector<Answer> shipped = shipped_answers();
  if (!own_ && shipped.empty()) open_store(arguments_, db::Mode::read_only);  // says why
  if (!own_) return shipped;
  std::vector<Answer> answers;
  try {
    answers = answers_of(*own_, false);
  } catch (const Error&) {
    if (shipped.empty()) throw;
  }
  // Shipped results answer a question about a size. A list of what is tuned has only the user's.
  if (answers.empty() || arguments_.has("size")) add_shipped(answers, std::move(shipped));
  return answers;
}

std::vector<Answer> Databases::shipped_answers() {
  if (!shipped_) return {};
  try {
    return answers_of(*shipped_, true);
  } catch (const Error&) {  // the shipped database has no answer
    return {};
  }
}

std::vector<Answer> Databases::answers_of(const db::TunedStore& store, bool shipped) {
  std::vector<Answer> answers = answers_to(arguments_, store);
  for (Answer& answer : answers) {
    answer.space_changed = judge_.space_changed(answer.entry);
    answer.shipped = shipped;
    if (const auto pin = store.pin_of(answer.entry.best.source)) answer.note = pin->note;
    if (const auto pin = store.refuted_pin(answer.entry.best.key)) {
      answer.refuted_pin = pin->configuration;
    }
    answer.failed_there = failed_there(answer, store);
    answer.stale = judge_.target_called(answer.entry.kernel.target) != nullptr &&
                   judge_.target_of(answer.entry) == nullptr;
  }
  return answers;
}

}  // namespace autotune::cli
