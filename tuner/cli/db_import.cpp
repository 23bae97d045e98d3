// SPDX-License-Identifier: Apache-2.0
// autotune db import and merge: adds the contents of files to a database.
#include "tuner/cli/db_export.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

std::string name_now(const OldName* old, const std::string& size) {
  if (!old) return size;
  const auto found = std::ranges::find(old->sizes, size, &OldSize::was);
  return found == old->sizes.end() ? size : found->is;
}

template <class Named>
bool contains(const std::vector<Named>& all, const std::string& name) {
  return std::ranges::find(all, name, &Named::name) != all.end();
}
bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}
bool contains(const NamedValues& all, const NamedValue& one) {
  return std::ranges::find(all, one) != all.end();
}

/// With the values of `more` that it lacks.
NamedValues with(NamedValues values, std::string_view more) {
  for (const NamedValue& each : parse_named_values(more)) {
    if (!find_value(values, each.name)) values.push_back(each);
  }
  return values;
}

/// A configuration of an old target.
NamedValues in_todays_words(NamedValues values, std::span<const OldWord> words) {
  for (const OldWord& word : words) {
    const auto found = std::ranges::find_if(values, [&](const NamedValue& each) {
      return each.name == word.was || each.name + '=' + each.value.text() == word.was;
    });
    if (found == values.end()) continue;
    if (found->name == word.was) {
      found->name = word.is;
      continue;
    }
    values.erase(found);
    std::ranges::copy(parse_named_values(word.is), std::back_inserter(values));
  }
  return values;
}

/// Inactive parameters get their first value, which may have been another.
void set_inactive(const Target& target, const TargetProgram& program, const Problem& problem,
                  Configuration& configuration) try {
  const std::vector<bool> active =
      program.active(program.levels(configuration), sizes_of(target, problem));
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (!active[i]) configuration[i].value = target.parameters[i].values.front();
  }
} catch (const Error&) {  // all count as active
}

/// nullopt where it is none of the target's. Parameters that it lacks have their first value.
std::optional<std::string> configuration_now(const Target& target, const TargetProgram& program,
                                             const Problem& problem, const NamedValues& gone,
                                             const NamedValues& given) {
  const auto is_known = [&](const NamedValue& each) {
    return contains(target.parameters, each.name) || contains(gone, each);
  };
  Configuration configuration;
  for (const Parameter& parameter : target.parameters) {
    const Value* const value = find_value(given, parameter.name);
    configuration.push_back({parameter.name, value ? *value : parameter.values.front()});
  }
  if (!std::ranges::all_of(given, is_known) || !foreign_part(target, configuration).empty()) {
    return std::nullopt;
  }
  set_inactive(target, program, problem, configuration);
  return to_text(configuration);
}

}  // namespace

const OldName* TodaysNames::old_of(const std::string& target) {
  const auto [found, is_new] = old_.try_emplace(target);
  if (is_new) found->second = old_name(target);
  return found->second;
}

const Target* TodaysNames::target_of(const std::string& name) {
  const OldName* const old = old_of(name);
  return judge_.target_called(old ? std::string(old->now) : name);
}

const TargetProgram& TodaysNames::program_of(const Target& target, const NamedValues& settings) {
  return programs_
      .try_emplace(target.name + ' ' + to_text(settings), target, problem_from(target, 1, settings),
                   DeviceInfo{}, SizeBinding::given)
      .first->second;
}

bool TodaysNames::concern(const db::KernelRow& kernel) {
  const Target* const target = target_of(kernel.target);
  if (!target || kernel.fingerprint == target->fingerprint) return false;
  const SameSource* const same = same_source(kernel.fingerprint);
  if (old_of(kernel.target) || (same && same->is == target->fingerprint)) return true;
  const std::vector<std::string> sizes = words_of(kernel.sizes), known = size_names(*target);
  const std::span needed(target->sizes.data(), needed_sizes(*target));
  const auto is_known = [&](const std::string& size) { return contains(known, size); };
  const auto is_given = [&](const std::string& size) { return contains(sizes, size); };
  return kernel.sizes != kernel_row(*target).sizes && std::ranges::all_of(sizes, is_known) &&
         std::ranges::all_of(needed, is_given);
}

bool TodaysNames::renew(db::KernelRow& kernel, std::string& problem, std::string& configuration) {
  const Target& target = *target_of(kernel.target);
  const OldName* const old = old_of(kernel.target);
  const SameSource* const same = same_source(kernel.fingerprint);
  const NamedValues gone = parse_named_values(same ? same->gone : "");
  bool is_same = same && same->is == target.fingerprint;
  try {
    NamedValues sizes, settings;
    for (NamedValue& each : with(parse_named_values(problem), old ? old->settings : "")) {
      each.name = name_now(old, each.name);
      if (contains(target.sizes, each.name)) {
        sizes.push_back(each);
      } else if (contains(target.settings, each.name)) {
        settings.push_back(each);
      } else {  // a free size now, or nothing
        is_same = is_same && contains(gone, each);
      }
    }
    const Problem now = problem_of(target, sizes, settings);
    const auto is_one = [&](const NamedValue& word) { return contains(now.values, word); };
    NamedValues given = parse_named_values(configuration);
    if (old) given = in_todays_words(std::move(given), old->words);
    const auto chosen = configuration_now(target, program_of(target, settings), now, gone,
                                          with(given, old ? old->parameters : ""));
    const bool is_other = same && std::ranges::any_of(same->except, [&](std::string_view words) {
                            return std::ranges::any_of(parse_named_values(words), is_one);
                          });
    const bool is_todays = is_same && !is_other && chosen;
    problem = now.text();
    if (chosen && !given.empty()) configuration = *chosen;
    // A fingerprint that is known to be today's is not that of other values.
    const std::string drifted = kernel.fingerprint + (same ? " with other values" : "");
    kernel = kernel_row(target);
    if (!is_todays) kernel.fingerprint = drifted;
    return true;
  } catch (const Error&) {  // no text of ours, or a value that the target has no more
    return false;
  }
}

namespace {

/// The files behind the action's name.
std::vector<std::string> files_of(const Arguments& arguments) {
  const auto& words = arguments.positional();
  if (words.size() < 2) {
    throw UsageError(format("db {} needs a file: autotune db {} FILE…", words[0], words[0]));
  }
  return {words.begin() + 1, words.end()};
}

db::ImportReport import_file(db::TunedStore& store, const std::string& file, TodaysNames& names) {
  const auto refuse = [&](const std::string& why) {
    throw Error(format("{}: cannot be read: {}; name a file that db export wrote", file, why));
  };
  const std::string why = why_unreadable(file, std::numeric_limits<std::uint64_t>::max());
  if (!why.empty()) refuse(why);
  if (is_database(file)) return db::merge(store, db::TunedStore(file, db::Mode::read_only), &names);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(std::strerror(errno));
  return db::import_json_lines(store, stream, file, &names);
}

/// Warns of answers that no program will get, because they are not valid.
std::set<std::string> useless_answers(const db::TunedStore& store) {
  store.tuned({});
  return store.left_out();
}

}  // namespace

int run_import(const Arguments& arguments) {
  const std::vector<std::string> files = files_of(arguments);
  db::TunedStore store = open_store(arguments, db::Mode::read_write);
  AnswerJudge judge(arguments);
  use_valid_only(store, judge);
  const std::set<std::string> useless_before = useless_answers(store);
  TodaysNames names(judge);
  bool all_well = true;
  for (const std::string& file : files) {
    const db::ImportReport report = import_file(store, file, names);
    warn_of(report.refused);
    std::cout << format("{}: {} rows added, {} were there already, {} refused\n", file,
                        report.added, report.present, report.refused.size());
    all_well = all_well && report.refused.empty();
  }
  std::vector<std::string> useless;
  std::ranges::set_difference(useless_answers(store), useless_before, std::back_inserter(useless));
  warn_of(useless);
  return all_well && useless.empty() ? kDone : kFailed;
}

int run_convert_names(const Arguments& arguments) {
  db::TunedStore store = open_present_store(arguments);
  AnswerJudge judge(arguments);
  TodaysNames names(judge);
  const db::ImportReport report = db::convert(store, names);
  warn_of(report.refused);
  std::cout << format("{}: {} facts converted, {} refused\n", store.path().string(), report.renewed,
                      report.refused.size());
  return report.refused.empty() ? kDone : kFailed;
}

}  // namespace autotune::cli
