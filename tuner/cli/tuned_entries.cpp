// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tuned_entries.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "db/problem_distance.hpp"
#include "tuner/cli/request.hpp"
#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

[[noreturn]] void nothing_tuned(const std::string& what, const std::string& file,
                                const std::string& word, const std::set<std::string>& names) {
  const std::vector<std::string> known(names.begin(), names.end());
  throw Error(known.empty()
                  ? format("nothing is tuned in {}: run autotune --target {} --sizes … first", file,
                           what == "target" && !word.empty() ? word : "gemm")
                  : format("nothing is tuned for {} \"{}\" in {}: {}", what, word, file,
                           suggestion(word, known)));
}

/// Entries of one device, problem and policy stand together, the latest kernel first.
std::vector<db::TunedEntry> latest_of_each(std::vector<db::TunedEntry> entries) {
  const auto key = [](const db::TunedEntry& entry) {
    return std::tie(entry.best.key.device, entry.kernel.target, entry.best.key.problem,
                    entry.best.key.policy);
  };
  std::vector<db::TunedEntry> latest;
  for (db::TunedEntry& entry : entries) {
    const auto same = std::find_if(latest.begin(), latest.end(), [&](const db::TunedEntry& other) {
      return key(other) == key(entry);
    });
    if (same == latest.end()) {
      latest.push_back(std::move(entry));
    } else if (same->best.created_at < entry.best.created_at) {
      *same = std::move(entry);
    }
  }
  return latest;
}

/// Throws UsageError where none of these problems has a setting of this name.
void expect_known(const std::string& name, const std::vector<db::TunedEntry>& entries) {
  std::set<std::string> known;
  for (const db::TunedEntry& entry : entries) {
    for (const NamedValue& each : parse_named_values(entry.best.key.problem)) {
      known.insert(each.name);
    }
  }
  if (known.contains(name)) return;
  throw UsageError(format("--set: no problem of {} has a setting {}: {}",
                          entries.front().kernel.target, name,
                          suggestion(name, std::vector<std::string>(known.begin(), known.end()))));
}

}  // namespace

db::TunedStore open_store(const Arguments& arguments, db::Mode mode) {
  return db::TunedStore(database_path(arguments), mode);
}

std::string target_name(const Arguments& arguments) {
  const std::string target = arguments.find("target").value_or("");
  return is_manifest_path(target) ? find_target(target).name : target;
}

std::vector<db::TunedEntry> entries_for(const Arguments& arguments, const db::TunedStore& store) {
  return entries_for(arguments, store, target_name(arguments));
}

std::vector<db::TunedEntry> entries_for(const Arguments& arguments, const db::TunedStore& store,
                                        const std::string& target) {
  const std::string device = arguments.find("device").value_or("");
  std::vector<db::TunedEntry> entries = store.tuned({device, target, "", ""});
  if (entries.empty()) {
    std::set<std::string> targets, devices;
    for (const db::TunedEntry& entry : store.tuned({})) {
      targets.insert(entry.kernel.target);
      if (target.empty() || entry.kernel.target == target) devices.insert(entry.device.name);
    }
    if (targets.empty() || (!target.empty() && !targets.contains(target)))
      nothing_tuned("target", store.path(), target, targets);
    nothing_tuned("device", store.path(), device, devices);
  }
  return latest_of_each(std::move(entries));
}

std::vector<db::TunedEntry> chosen_entries(const Arguments& arguments,
                                           const db::TunedStore& store) {
  const NamedValues chosen = settings_of(arguments);
  const std::vector<db::TunedEntry> all = entries_for(arguments, store);
  std::vector<db::TunedEntry> entries;
  std::copy_if(all.begin(), all.end(), std::back_inserter(entries),
               [&](const db::TunedEntry& each) { return has_settings(each, chosen); });
  for (const NamedValue& each : chosen) expect_known(each.name, all);
  if (entries.empty()) {
    const std::string& target = all.front().kernel.target;
    std::string command = "autotune --target " + target;
    for (const NamedValue& each : chosen) command += " --set " + to_text({each});
    throw Error(format("{} is not tuned with {} in {}, but with {}: run {} --sizes … first", target,
                       to_text(chosen), store.path().string(),
                       to_text(problem_of(all.front()).settings), command));
  }
  return entries;
}

EntryProblem problem_of(const db::TunedEntry& entry) {
  const std::string& text = entry.best.key.problem;
  const db::ProblemText parts = db::ProblemText::parse(text, entry.kernel.sizes);
  EntryProblem problem;
  for (std::size_t i = 0; i < parts.names.size(); ++i) {
    problem.sizes.push_back({std::string(parts.names[i]), parts.sizes[i]});
  }
  problem.settings = parse_named_values(parts.settings);
  return problem;
}

bool has_settings(const db::TunedEntry& entry, const NamedValues& chosen) {
  return has_all(parse_named_values(entry.best.key.problem), chosen);
}

Readable::Readable(const Arguments& arguments, const std::string& target,
                   const std::string& problem, const db::DeviceRow& device)
    : problem_{parse_named_values(problem)}, device_(device_of(device)) {
  const std::string asked = arguments.find("target").value_or("");
  try {
    target_ = find_target(is_manifest_path(asked) ? asked : target);
  } catch (const Error&) {
    // One of the user's own, wherever it is.
  }
}

std::string Readable::problem() const {
  return target_ ? problem_text(*target_, problem_) : problem_.text();
}

std::string Readable::configuration(const std::string& text) const {
  return target_ ? configuration_text(*target_, problem_, text, device_) : text;
}

std::vector<NamedValues> asked_sizes(const Arguments& arguments,
                                     const std::vector<db::TunedEntry>& entries) {
  std::vector<std::string> names;
  for (const NamedValue& size : problem_of(entries.front()).sizes) names.push_back(size.name);
  return parse_sizes(arguments.text("size"), names, "--size");
}

std::string sizes_text(const NamedValues& sizes) {
  const bool alike = std::all_of(sizes.begin(), sizes.end(), [&](const NamedValue& size) {
    return size.value == sizes.front().value;
  });
  return alike && !sizes.empty() ? sizes.front().value.text() : to_text(sizes);
}

}  // namespace autotune::cli
