// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/answers.hpp"

#include <algorithm>
#include <mutex>

#include "tuner/answer/known_times.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/plugin/target_hooks.hpp"
#include "tuner/records/records.hpp"
#include "tuner/target/old_names.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::cli {

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
  if (!program || is_valid(*program, *levels, size_values(problem_of(entry).sizes))) return "";
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

namespace {

/// Loads plugins into this process, as a program does that looks up.
std::string library_for(const std::string& target, const Workload& workload, bool has_free_sizes) {
  return library_offering(plugin_files(), target, workload, has_free_sizes);
}

}  // namespace

std::vector<std::int64_t> numbers_in_order(const Target& target, const NamedValues& sizes) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : target.sizes) {
    const Value* const value = find_value(sizes, name);
    // A stored problem may be older than the last sizes, which have defaults.
    if (!value && numbers.size() >= needed_sizes(target)) return all_sizes(target, numbers);
    if (!value) throw Error(format("{}: the size {} is missing", target.name, name));
    numbers.push_back(value->integer());
  }
  for (const FreeSize& each : target.free_sizes) {
    const Value* const value = find_value(sizes, each.name);
    numbers.push_back(value ? value->integer() : kDefaultSize);
  }
  return numbers;
}

ProgramAnswers::ProgramAnswers(const Arguments& arguments, AnswerJudge& judge) : judge_(judge) {
  layers_.push_back({database_path(arguments), db::Mode::read_only});
  if (!arguments.has("db")) layers_.push_back({shipped_database(), db::Mode::shipped, true});
}

ProgramAnswer ProgramAnswers::find(const db::TunedEntry& like, const NamedValues& sizes) {
  const Target* const target = judge_.target_called(like.kernel.target);
  if (!target) return {};
  return find(*target, problem_of(like).settings, device_of(like.device), like.best.key.policy,
              sizes);
}

ProgramAnswer ProgramAnswers::find(const Target& target, const NamedValues& settings,
                                   const DeviceInfo& device, const std::string& policy,
                                   const NamedValues& sizes) {
  const auto [found, is_new] =
      asked_.try_emplace({target.name, to_text(settings), device.name, policy});
  std::unique_ptr<TargetLookup>& lookup = found->second;
  if (is_new) {
    lookup = std::make_unique<TargetLookup>(target, settings, device, policy, layers_, library_for);
  }
  if (!lookup) throw Error(format("{}: it cannot be looked up", target.name));
  const std::vector<std::int64_t> numbers = numbers_in_order(target, sizes);
  return {lookup.get(), lookup->find(numbers), lookup->problem_for(numbers)};
}

std::vector<std::string> ProgramAnswers::warnings() const {
  std::vector<std::string> all;
  for (const auto& [asked, lookup] : asked_) {
    if (!lookup) continue;
    for (const std::string_view line : split(lookup->warnings(), '\n')) {
      if (!line.empty() && std::ranges::find(all, line) == all.end()) all.emplace_back(line);
    }
  }
  return all;
}

AnswerToday answers_today(const Arguments& arguments, const Target& target,
                          const DeviceInfo& device, const std::string& policy,
                          const std::filesystem::path& database) {
  std::vector<db::Layer> layers{{shipped_database(), db::Mode::shipped, true}};
  if (!database.empty()) layers.insert(layers.begin(), {database, db::Mode::read_only});
  const auto judge = std::make_shared<AnswerJudge>(arguments);
  const auto programs = std::make_shared<ProgramAnswers>(*judge, std::move(layers));
  const auto mutex = std::make_shared<std::mutex>();
  return [=, &target](const Problem& problem) -> std::string {
    const std::lock_guard lock(*mutex);
    const auto first = problem.values.begin(), second = first + std::ssize(target.sizes);
    const NamedValues sizes(first, second), settings(second, problem.values.end());
    try {
      const LookupAnswer answer = programs->find(target, settings, device, policy, sizes).answer;
      if (answer.origin != db::Origin::default_configuration)
        return std::string(answer.configuration);
    } catch (const Error&) {  // nothing is known
    }
    return "";
  };
}

bool is_given(const db::TunedEntry& entry, const ProgramAnswer& given) {
  const db::BestRow& best = entry.best;
  if (!given.lookup) return db::is_answer(best.decided, best.provenance);
  const LookupAnswer& own = given.answer;
  return own.origin == db::Origin::exact && best.configuration == own.configuration &&
         best.provenance == own.provenance && best.median_ns.value_or(0) == own.median_ns;
}

void keep_given(std::vector<db::TunedEntry>& entries, ProgramAnswers& programs) {
  std::vector<std::string> others;
  const auto is_other = [&](const db::TunedEntry& entry) {
    std::string why = "its run did not end";
    try {
      const ProgramAnswer given = programs.find(entry, problem_of(entry).sizes);
      if (is_given(entry, given)) return false;
      if (entry.best.decided) why = format("programs get {}", given.answer.configuration);
    } catch (const Error& error) {
      why = error.what();
    }
    others.push_back(format("{} is left out: {}; tune it again", name_of(entry), why));
    return true;
  };
  std::erase_if(entries, is_other);
  warn_of(others);
}

std::string one_line(const ProgramAnswer& given) {
  const LookupAnswer& answer = given.answer;
  const char* const how = answer.origin == db::Origin::exact ? "" : " expected";
  const auto with_time = [](std::string text, double ns, const char* what) {
    if (ns > 0) text += format(", {}{}", time_text(ns * 1e-9), what);
    return text;
  };
  if (!answer.baseline.empty()) {
    return with_time(std::string(answer.baseline), answer.baseline_ns,
                     answer.library_is_expected ? " expected" : "");
  }
  const Target& target = given.lookup->target();
  return with_time(format("{} {}", target.name,
                          configuration_text(target, given.problem, answer.configuration,
                                             given.lookup->device())),
                   answer.expected_ns, how);
}

Json program_json(const ProgramAnswer& given) {
  if (!given.lookup) return nullptr;
  const LookupAnswer& answer = given.answer;
  return {{"target", given.lookup->target().name},
          {"free", json_of(given.problem.free)},
          {"config", json_of(parse_named_values(answer.configuration))},
          {"origin", db::name_of(answer.origin)},
          {"provenance", answer.provenance},
          {"expected_ns", answer.expected_ns},
          {"library", answer.baseline},
          {"library_ns", answer.baseline_ns},
          {"library_is_expected", answer.library_is_expected}};
}

}  // namespace autotune::cli
