// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/answers.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "db/lookup_source.hpp"
#include "db/store.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/records/records.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

bool is_same_place(const db::TunedEntry& a, const db::TunedEntry& b) {
  const auto place = [](const db::TunedEntry& entry) {
    return std::tie(entry.device.name, entry.device.kind, entry.best.settings,
                    entry.best.key.policy);
  };
  return place(a) == place(b);
}

/// Not of an earlier source with other sizes or settings.
bool has_problem(const Target& target, const EntryProblem& problem) try {
  autotune::problem_of(target, problem.sizes, problem.settings);
  return true;
} catch (const Error&) {
  return false;
}

/// The key of results.
NamedValues problem_at(const db::TunedEntry& place, const NamedValues& sizes) {
  const std::size_t count = problem_of(place).sizes.size();
  NamedValues problem = sizes;
  if (problem.size() > count) problem.resize(count);  // without free sizes
  for (const NamedValue& setting : problem_of(place).settings) problem.push_back(setting);
  return problem;
}

/// Whether the settings that nobody gave have the target's default, as in a program.
bool has_defaults(const Target& target, const EntryProblem& problem, const NamedValues& given) {
  return std::ranges::all_of(target.settings, [&](const Setting& setting) {
    const Value* const value = find_value(problem.settings, setting.name);
    return !value || find_value(given, setting.name) ||
           is_default(setting, *value, problem.settings);
  });
}

/// Leaves out contexts of which nothing is stored, where something is of another context.
void drop_other_contexts(std::vector<Answer>& answers) {
  const std::vector<Answer> all = answers;
  std::erase_if(answers, [&](const Answer& one) {
    return !one.is_stored && std::ranges::any_of(all, [&](const Answer& other) {
      return other.is_stored && other.entry.device.name == one.entry.device.name &&
             other.entry.best.key.problem == one.entry.best.key.problem;
    });
  });
}

}  // namespace

std::string tune_command(const Arguments& arguments, const Target& target,
                         const db::TunedEntry& entry) {
  const EntryProblem problem = problem_of(entry);
  std::vector<std::string> sizes;
  for (const NamedValue& size : problem.sizes) sizes.push_back(size.value.text());
  std::string command = format("autotune tune --target {} --sizes {}",
                               shell_text({{arguments.text("target")}}), joined(sizes, "x"));
  for (const NamedValue& given : problem.settings) {
    const auto setting = std::ranges::find(target.settings, given.name, &Setting::name);
    const bool is_known = setting != target.settings.end();
    const bool is_told = !is_known || !is_default(*setting, given.value, problem.settings);
    if (is_told) command += " --set " + to_text({given});
  }
  if (entry.device.kind == "host") command += " --device host";
  if (const auto file = arguments.find("db")) command += " --db " + shell_text({{*file}});
  return command;
}

Databases::Databases(const Arguments& arguments, AnswerJudge& judge)
    : arguments_(arguments),
      judge_(judge),
      programs_(arguments, judge),
      shipped_(shipped_store(arguments)) {
  if (!shipped_ || has_own_database(arguments)) {
    try {
      own_ = open_store(arguments, db::Mode::read_only);
    } catch (const db::StoreError& error) {
      if (!shipped_) throw;
      warn_of({format("{}; only shipped results are used", error.what())});
    }
  }
  const auto leave_out = [&](std::optional<db::TunedStore>& store,
                             const std::optional<db::TunedStore>& other) {
    if (store) use_valid_only(*store, judge, other ? &*other : nullptr);
  };
  leave_out(own_, shipped_);
  leave_out(shipped_, own_);
  if (own_) own_warning_.emplace(*own_);
  if (shipped_) shipped_warning_.emplace(*shipped_);
}

std::vector<Answer> Databases::answers(FreeSizes free) {
  if (!arguments_.has("size")) return listed();
  std::vector<db::TunedEntry> all = places();
  if (all.empty()) all.push_back(place_on(device_here()));
  return answers_at(all, free);
}

std::vector<Answer> Databases::answers_at(const std::vector<db::TunedEntry>& all, FreeSizes free) {
  const db::KernelRow& kernel = all.front().kernel;
  std::vector<Answer> answers;
  std::vector<std::string> failures;
  std::exception_ptr failure;  // the first
  for (const NamedValues& sizes : asked_sizes(arguments_, judge_, kernel, free)) {
    for (const db::TunedEntry& place : all) {
      try {
        answers.push_back(answer_at(place, sizes));
      } catch (const Error& error) {
        if (!failure) failure = std::current_exception();
        if (std::ranges::find(failures, error.what()) == failures.end()) {
          failures.emplace_back(error.what());
        }
      }
    }
  }
  const bool all_usable = own_ && own_->left_out().empty();  // else its own warning tells
  if (all_usable && (shipped_ || arguments_.has("db"))) warn_of(programs_.warnings());
  if (answers.empty()) failures.erase(failures.begin());  // it is the command's error
  warn_of(failures);
  if (answers.empty()) std::rethrow_exception(failure);
  drop_other_contexts(answers);
  return answers;
}

std::vector<db::TunedEntry> Databases::measured() {
  std::vector<db::TunedEntry> entries;
  const auto take = [&](Answer answer) {
    if (answer.is_stored) entries.push_back(std::move(answer.entry));
  };
  if (arguments_.has("size")) {
    for (Answer& answer : answers()) take(std::move(answer));
    return entries;
  }
  for (const Answer& one : listed()) take(answer_at(one.entry, problem_of(one.entry).sizes));
  return entries;
}

std::vector<db::TunedEntry> Databases::asked_on(const DeviceInfo& gpu) {
  const auto is_elsewhere = [&](const db::TunedEntry& one) {
    return one.device.compute_capability != gpu.compute_capability;
  };
  std::vector<db::TunedEntry> all;
  if (arguments_.has("size")) {
    std::vector<db::TunedEntry> asked = places();
    std::erase_if(asked, is_elsewhere);
    if (asked.empty()) asked.push_back(place_on(gpu));
    for (Answer& answer : answers_at(asked, FreeSizes::taken)) {
      const Problem& problem = answer.given.problem;
      if (answer.given.lookup) answer.entry.best.key.problem = problem.text_with_free();
      all.push_back(std::move(answer.entry));
    }
    return all;
  }
  for (const std::optional<db::TunedStore>* const store : {&own_, &shipped_}) {
    if (!all.empty() && !arguments_.has("target")) break;
    for (db::TunedEntry& entry : entries_in(*store, chosen_entries)) {
      if (!is_elsewhere(entry)) all.push_back(std::move(entry));
    }
  }
  if (all.empty() && (why_ || !own_)) say_why();
  return all;
}

/// Shipped results only where the user has none.
std::vector<Answer> Databases::listed() {
  std::vector<Answer> answers;
  for (const std::optional<db::TunedStore>* const store : {&own_, &shipped_}) {
    for (db::TunedEntry& entry : entries_in(*store, chosen_entries)) {
      answers.push_back(judged(**store, std::move(entry)));
    }
    if (!answers.empty()) return answers;
  }
  say_why();
}

std::vector<db::TunedEntry> Databases::entries_in(const std::optional<db::TunedStore>& store,
                                                  Find* find) {
  if (!store) return {};
  try {
    return find(arguments_, *store);
  } catch (const Error&) {
    (&store == &own_ ? why_ : shipped_why_) = std::current_exception();
    return {};
  }
}

void Databases::say_why() const {
  if (why_) std::rethrow_exception(why_);
  if (shipped_why_ && arguments_.has("device")) std::rethrow_exception(shipped_why_);
  const std::string target = target_name(arguments_);
  if (!target.empty() && !judge_.target_called(target)) find_target(target);  // says what is near
  const db::TunedStore made_since = open_store(arguments_, db::Mode::read_only);
  throw Error(format("{}: was written just now: ask again", made_since.path().string()));
}

/// One entry for each device, settings and policy that the target has, if it is known. Shipped ones
/// only of the user's devices, if there are any, and with the settings of a program that names no
/// others.
std::vector<db::TunedEntry> Databases::places() {
  const std::vector<db::TunedEntry> own = entries_in(own_, entries_of_each_place);
  std::vector<db::TunedEntry> all = own;
  std::vector<db::TunedEntry> shipped = entries_in(shipped_, entries_of_each_place);
  const auto is_asked = [&](const db::TunedEntry& place) {
    const Target* const target = judge_.target_called(place.kernel.target);
    return !target || has_defaults(*target, problem_of(place), settings_of(arguments_));
  };
  if (std::ranges::any_of(shipped, is_asked)) std::erase_if(shipped, std::not_fn(is_asked));
  for (db::TunedEntry& entry : shipped) {
    const auto is_on_device = [&](const db::TunedEntry& one) {
      return one.device.name == entry.device.name;
    };
    const auto is_there = [&](const db::TunedEntry& one) { return is_same_place(one, entry); };
    if (!own.empty() && std::ranges::none_of(own, is_on_device)) continue;
    if (std::ranges::none_of(own, is_there)) all.push_back(std::move(entry));
  }
  std::erase_if(all, [&](const db::TunedEntry& place) {
    const Target* const target = judge_.target_called(place.kernel.target);
    return target && !has_problem(*target, problem_of(place));
  });
  return all;
}

/// Of --target and --size, on a device of which nothing need be stored.
db::TunedEntry Databases::place_on(const DeviceInfo& device) {
  const std::string name = target_name(arguments_);
  const Target* const known = judge_.target_called(name);
  if (!known && why_) say_why();  // a target of the user's own, which is known by its results
  const Target target = known ? *known : find_target(arguments_.text("target"));
  const auto sizes = sizes_in(arguments_.text("size"), target, "--size", FreeSizes::taken).front();
  const Problem problem = autotune::problem_of(target, sizes, settings_of(arguments_));
  db::TunedEntry place{{}, device_row(device), kernel_row(target), {}};
  place.best.key.policy = asked_policy(arguments_, device.kind);
  place.best.key.problem = problem.text();
  return place;
}

/// The device of --device, else the first GPU of this machine.
DeviceInfo Databases::device_here() {
  const auto named = arguments_.find("device");
  try {
    return device_named(named.value_or("cuda:0"));
  } catch (const Error& error) {
    const bool is_misspelt = dynamic_cast<const UsageError*>(&error) != nullptr;
    if (named && (is_misspelt || !why_)) throw;
    say_why();  // why nothing is stored tells more
  }
}

Answer Databases::answer_at(const db::TunedEntry& place, const NamedValues& sizes) {
  const std::string problem = to_text(problem_at(place, sizes));
  const ProgramAnswer given = programs_.find(place, sizes);
  std::optional<Answer> answer = stored(place, problem, given);
  if (!answer && !given.lookup) {
    throw Error(
        format("{} of size {} is not tuned in {}, and its manifest is not found: name that file "
               "with --target, and what programs get is shown",
               place.kernel.target, sizes_text(sizes), database_path(arguments_).string()));
  }
  if (!answer) {
    answer.emplace(Answer{{{}, place.device, place.kernel, {}}, false});
    db::BestRow& best = answer->entry.best;
    best.key = place.best.key;
    best.key.problem = problem;
    best.configuration = given.answer.configuration;
    best.provenance = given.answer.provenance;
    best.default_configuration = to_text(valid_default(*judge_.target_called(place.kernel.target),
                                                       given.problem, device_of(place.device)));
    const auto pin = own_ ? own_->refuted_pin(best.key) : std::nullopt;
    if (pin) answer->refuted_pin = pin->configuration;
  }
  answer->given = given;
  return *std::move(answer);
}

/// The result that the lookup found; where the target is not known, that of the user, else the
/// shipped one.
std::optional<Answer> Databases::stored(const db::TunedEntry& place, const std::string& problem,
                                        const ProgramAnswer& given) {
  db::LookupRequest request;
  request.policy = place.best.key.policy;
  for (const std::string& policy : db::policies_of(request)) {
    for (const std::optional<db::TunedStore>* const store : {&own_, &shipped_}) {
      if (!*store) continue;
      for (db::TunedEntry& entry :
           (*store)->tuned({place.device.name, place.kernel.target, problem, policy, ""})) {
        if (is_given(entry, given)) return judged(**store, std::move(entry));
      }
    }
  }
  return std::nullopt;
}

Answer Databases::judged(const db::TunedStore& store, db::TunedEntry entry) {
  Answer answer;
  answer.space_changed = judge_.space_changed(entry);
  answer.shipped = shipped_ && &store == &*shipped_;
  answer.stale = judge_.target_called(entry.kernel.target) && !judge_.target_of(entry);
  if (const auto pin = store.pin_of(entry.best.source)) answer.note = pin->note;
  if (const auto pin = store.refuted_pin(entry.best.key)) answer.refuted_pin = pin->configuration;
  answer.entry = std::move(entry);
  return answer;
}

}  // namespace autotune::cli
