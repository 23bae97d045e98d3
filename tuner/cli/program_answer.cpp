// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/program_answer.hpp"

#include <utility>

#include "tuner/cli/request.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/core/error.hpp"
#include "tuner/plugin/plugin_baseline.hpp"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// Loads plugins into this process, as a program does that looks up.
std::string library_for(const std::string& target, const Workload& workload) {
  return library_offering(plugin_files(), target, workload);
}

std::vector<std::int64_t> numbers_in_order(const Target& target, const NamedValues& sizes) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : target.sizes) {
    const Value* const value = find_value(sizes, name);
    // A stored problem may be older than the last sizes, which have defaults.
    if (!value && numbers.size() >= needed_sizes(target)) return all_sizes(target, numbers);
    if (!value) throw Error(format("{}: the size {} is missing", target.name, name));
    numbers.push_back(value->integer());
  }
  return numbers;
}

}  // namespace

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
    others.push_back(format("{} {} on {} is left out: {}; tune it again", entry.kernel.target,
                            entry.best.key.problem, entry.device.name, why));
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

}  // namespace autotune::cli
