// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/answers.hpp"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>

#include "tuner/cli/devices.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

constexpr std::size_t kWarnings = 10;

[[noreturn]] void nothing_tuned(const std::string& what, const std::string& file,
                                const std::string& word, const std::set<std::string>& names) {
  const std::vector<std::string> known(names.begin(), names.end());
  throw Error(known.empty()
                  ? format("nothing is tuned in {}: run autotune --target {} --sizes … first", file,
                           what == "target" && !word.empty() ? shell_text({{word}}) : "gemm")
                  : format("nothing is tuned for {} \"{}\" in {}: {}", what, word, file,
                           suggestion(word, known)));
}

bool takes(const db::TunedFilter& filter, const db::TunedOn& one) {
  return (filter.target.empty() || one.target == filter.target) &&
         (filter.device_name.empty() || one.device_name == filter.device_name);
}

/// A tuned target and device that the filter takes. Throws Error with near names if there is none.
db::TunedOn expect_tuned(const db::TunedStore& store, const db::TunedFilter& filter) {
  std::set<std::string> targets, devices;
  std::optional<db::TunedOn> found;
  for (db::TunedOn& one : store.tuned_on()) {
    targets.insert(one.target);
    if (!filter.target.empty() && one.target != filter.target) continue;
    devices.insert(one.device_name);
    if (takes(filter, one)) found = std::move(one);
  }
  if (found) return *found;
  if (!store.unanswered(filter).empty()) {
    throw Error(
        format("{}: the trials have led to no result, because every configuration failed, the run "
               "was restricted by --fix, or it ended early: autotune report --output FILE shows "
               "them",
               store.path().string()));
  }
  if (targets.empty() || devices.empty()) {
    nothing_tuned("target", store.path(), filter.target, targets);
  }
  nothing_tuned("device", store.path(), filter.device_name, devices);
}

/// Throws UsageError if none of these problems has a setting of this name.
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

std::string context_of(const db::TunedEntry& entry) {
  return std::string(db::stored_policy(entry.best.key.policy).context);
}

/// The choice of --set and --context among a target's entries.
struct Choice {
  NamedValues settings;
  std::optional<std::string> context;

  bool takes(const db::TunedEntry& entry) const {
    return has_settings(entry, settings) && (!context || context_of(entry) == *context);
  }
};

Choice choice_of(const Arguments& arguments) {
  return {settings_of(arguments), arguments.find(kContextOption.name)};
}

/// Throws Error if entries with these settings exist, but none with the context.
void expect_context(const Choice& choice, const std::vector<db::TunedEntry>& all,
                    const std::string& file) {
  std::set<std::string> contexts;
  for (const db::TunedEntry& entry : all) {
    if (has_settings(entry, choice.settings)) contexts.insert(context_of(entry));
  }
  if (!choice.context || contexts.empty() || contexts.contains(*choice.context)) return;
  throw Error(format("{} is not tuned with --context {} in {}, but with {}",
                     all.front().kernel.target, *choice.context, file,
                     joined(std::vector<std::string>(contexts.begin(), contexts.end()), " and ")));
}

/// Throws Error with the reason why there is no answer, although the target is tuned on the device.
[[noreturn]] void no_answer(const Arguments& arguments, const db::TunedStore& store,
                            const db::TunedFilter& filter) {
  const Choice choice = choice_of(arguments);
  const NamedValues& chosen = choice.settings;
  const std::vector<db::TunedEntry> all = store.tuned(filter);
  expect_context(choice, all, store.path().string());
  if (chosen.empty() || all.empty()) {
    throw Error(format("{}: none of its answers can be used: autotune db check shows why",
                       store.path().string()));
  }
  for (const NamedValue& each : chosen) expect_known(each.name, all);
  const std::string& target = all.front().kernel.target;
  std::string command = "autotune --target " + arguments.find("target").value_or(target);
  for (const NamedValue& each : chosen) command += " --set " + to_text({each});
  throw Error(format("{} is not tuned with {} in {}, but with {}: run {} --sizes … first", target,
                     to_text(chosen), store.path().string(),
                     to_text(problem_of(all.front()).settings), command));
}

/// The name of the device in this database that --device means: its own, `host`, a GPU of this
/// machine, such as `cuda:0`, or that of a GPU as in --gpu, such as `h200`.
std::string device_called(const std::string& asked, const db::TunedStore& store) {
  const std::string text = asked.starts_with("cuda") ? gpu_named(asked).name : asked;
  const std::vector<db::DeviceRow> devices = store.devices();
  const GpuSpec* const gpu = known_gpu(text);
  const auto is_named = [&](const db::DeviceRow& one) { return one.name == text; };
  const auto is_meant = [&](const db::DeviceRow& one) {
    return one.kind == "host" ? text == "host" : gpu != nullptr && known_gpu(one.name) == gpu;
  };
  if (std::ranges::any_of(devices, is_named)) return text;
  const auto meant = std::ranges::find_if(devices, is_meant);
  return meant == devices.end() ? text : meant->name;
}

db::TunedFilter filter_of(const Arguments& arguments, const std::string& target,
                          const db::TunedStore& store) {
  const std::string device = arguments.find("device").value_or("");
  return {device.empty() ? "" : device_called(device, store), target, "", "", ""};
}

}  // namespace

const Option kContextOption{
    "context", "C",   "Only results of this context of a call: between, chain or alone",
    {},        false, "between chain alone"};

std::optional<CallContext> asked_context(const Arguments& arguments) {
  const auto name = arguments.find(kContextOption.name);
  return name ? context_named(*name) : std::nullopt;
}

std::string asked_policy(const Arguments& arguments, DeviceKind kind) {
  Policy policy;
  policy.context = asked_context(arguments).value_or(default_context(kind));
  return key_text(policy);
}

void warn_of(const std::vector<std::string>& sentences) {
  const std::size_t shown = std::min(sentences.size(), kWarnings);
  for (std::size_t i = 0; i < shown; ++i) std::cerr << "warning: " << sentences[i] << '\n';
  if (sentences.size() > shown) {
    std::cerr << format("warning: and {} more like these\n", sentences.size() - shown);
  }
}

LeftOutWarning::~LeftOutWarning() {
  const std::set<std::string>& rows = store_.left_out();
  warn_of({rows.begin(), rows.end()});
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

bool has_own_database(const Arguments& arguments) {
  const std::filesystem::path file = database_path(arguments);
  std::error_code unknown;
  const auto status = std::filesystem::status(file, unknown);
  return file.extension() == ".lock" || status.type() != std::filesystem::file_type::not_found;
}

db::TunedStore open_store(const Arguments& arguments, db::Mode mode) {
  db::TunedStore store(database_path(arguments), mode);
  if (!store.warning().empty()) warn_of({store.warning()});
  return store;
}

db::TunedStore open_present_store(const Arguments& arguments) {
  const bool is_there = has_own_database(arguments);
  return open_store(arguments, is_there ? db::Mode::read_write : db::Mode::read_only);
}

std::filesystem::path prefix() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path().parent_path();
}

std::filesystem::path shipped_database() { return prefix() / "share/autotune/shipped.db"; }

std::optional<db::TunedStore> shipped_store(const Arguments& arguments) {
  if (arguments.has("db")) return std::nullopt;
  std::error_code unknown;
  const std::filesystem::path file = shipped_database();
  if (!std::filesystem::exists(file, unknown)) {
    warn_of(
        {format("{}: this part of the installation is missing: install it again", file.string())});
    return std::nullopt;
  }
  try {
    return db::TunedStore(file, db::Mode::shipped);
  } catch (const db::StoreError& error) {
    warn_of({error.what()});
    return std::nullopt;
  }
}

std::string target_name(const Arguments& arguments) {
  const std::string target = arguments.find("target").value_or("");
  return is_manifest_path(target) ? find_target(target).name : target;
}

std::vector<db::TunedEntry> one_of_each(const Arguments& arguments,
                                        std::vector<db::TunedEntry> entries) {
  AnswerJudge judge(arguments);
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> places;
  std::vector<db::TunedEntry> kept;
  for (db::TunedEntry& entry : entries) {
    const db::ProblemKey& key = entry.best.key;
    const auto [found, is_new] =
        places.try_emplace({key.device, entry.kernel.target, key.problem, key.policy}, kept.size());
    if (is_new) {
      kept.push_back(std::move(entry));
    } else if (judge.target_of(entry) && !judge.target_of(kept[found->second])) {
      kept[found->second] = std::move(entry);
    }
  }
  return kept;
}

std::vector<db::TunedEntry> chosen_entries(const Arguments& arguments,
                                           const db::TunedStore& store) {
  const db::TunedFilter filter = filter_of(arguments, target_name(arguments), store);
  const Choice chosen = choice_of(arguments);
  expect_tuned(store, filter);
  std::vector<db::TunedEntry> entries = one_of_each(arguments, store.tuned(filter));
  std::erase_if(entries, [&](const db::TunedEntry& one) { return !chosen.takes(one); });
  if (entries.empty()) no_answer(arguments, store, filter);
  return entries;
}

std::vector<NamedValues> asked_sizes(const Arguments& arguments, AnswerJudge& judge,
                                     const db::KernelRow& kernel, FreeSizes free) {
  const std::vector<std::string> names = words_of(kernel.sizes);
  const Target* const target = judge.target_called(kernel.target);
  const std::string text = arguments.text("size");
  return target && target->sizes == names ? sizes_in(text, *target, "--size", free)
                                          : parse_sizes(text, names, "--size");
}

std::vector<db::TunedEntry> exact_entries(const Arguments& arguments, const db::TunedStore& store,
                                          const std::string& target) {
  db::TunedFilter filter = filter_of(arguments, target, store);
  const Choice chosen = choice_of(arguments);
  const db::TunedOn tuned = expect_tuned(store, filter);
  AnswerJudge judge(arguments);
  std::vector<db::TunedEntry> entries;
  for (const NamedValues& sizes :
       asked_sizes(arguments, judge, {.target = target, .sizes = tuned.size_names})) {
    filter.sizes = to_text(sizes);
    for (db::TunedEntry& entry : one_of_each(arguments, store.tuned(filter))) {
      if (chosen.takes(entry)) entries.push_back(std::move(entry));
    }
  }
  return entries;
}

std::vector<db::TunedEntry> stored_entries(const Arguments& arguments,
                                           const db::TunedStore& store) {
  return arguments.has("size") ? exact_entries(arguments, store, target_name(arguments))
                               : chosen_entries(arguments, store);
}

std::vector<db::TunedEntry> unanswered_entries(const Arguments& arguments,
                                               const db::TunedStore& store) {
  std::vector<db::TunedEntry> entries =
      one_of_each(arguments, store.unanswered(filter_of(arguments, target_name(arguments), store)));
  const Choice chosen = choice_of(arguments);
  AnswerJudge judge(arguments);
  std::erase_if(entries, [&](const db::TunedEntry& one) {
    if (!chosen.takes(one)) return true;
    if (!arguments.has("size")) return false;
    const auto asked = asked_sizes(arguments, judge, one.kernel);
    return std::ranges::find(asked, problem_of(one).sizes) == asked.end();
  });
  return entries;
}

bool is_tuned(const Arguments& arguments, const db::TunedStore& store) {
  const db::TunedFilter filter = filter_of(arguments, target_name(arguments), store);
  return std::ranges::any_of(store.tuned_on(), [&](const auto& one) { return takes(filter, one); });
}

std::vector<db::TunedEntry> entries_of_each_place(const Arguments& arguments,
                                                  const db::TunedStore& store) {
  std::vector<db::TunedEntry> entries = chosen_entries(arguments, store);
  const auto place = [](const db::TunedEntry& one) {
    return std::tie(one.device.name, one.device.id, one.best.settings, one.best.key.policy);
  };
  std::ranges::stable_sort(entries, [&](const db::TunedEntry& a, const db::TunedEntry& b) {
    return place(a) == place(b) ? a.best.created_at > b.best.created_at : place(a) < place(b);
  });
  const auto is_same = [&](const auto& a, const auto& b) { return place(a) == place(b); };
  entries.erase(std::unique(entries.begin(), entries.end(), is_same), entries.end());
  return entries;
}

EntryProblem problem_of(const db::TunedEntry& entry) {
  const NamedValues values = parse_named_values(entry.best.key.problem);
  const auto settings =
      values.begin() + static_cast<std::ptrdiff_t>(words_of(entry.kernel.sizes).size());
  return {{values.begin(), settings}, {settings, values.end()}};
}

std::string name_of(const db::TunedEntry& entry) {
  return format("{} {} on {}", entry.kernel.target, entry.best.key.problem, entry.device.name);
}

std::vector<std::int64_t> size_values(const NamedValues& sizes) {
  std::vector<std::int64_t> numbers;
  for (const NamedValue& size : sizes) numbers.push_back(size.value.integer());
  return numbers;
}

void prefer_default_settings(const Arguments& arguments, std::vector<db::TunedEntry>& entries) {
  if (entries.size() < 2) return;
  const NamedValues named = settings_of(arguments);
  std::map<std::string, std::optional<Target>> targets;
  const auto is_other = [&](const db::TunedEntry& entry) {
    try {
      std::optional<Target>& target = targets[entry.kernel.target];
      if (!target) target = find_target(entry.kernel.target);
      return problem_of(*target, problem_of(entry).sizes, named).text() != entry.best.key.problem;
    } catch (const Error&) {
      return true;
    }
  };
  if (!std::ranges::all_of(entries, is_other)) std::erase_if(entries, is_other);
}

bool has_settings(const db::TunedEntry& entry, const NamedValues& chosen) {
  return has_all(parse_named_values(entry.best.key.problem), chosen);
}

Readable::Readable(const Target* target, const std::string& problem, const db::DeviceRow& device)
    : target_(target), problem_{parse_named_values(problem)}, device_(device_of(device)) {}

std::string Readable::problem() const {
  return target_ ? problem_text(*target_, problem_) : problem_.text();
}

std::string Readable::configuration(const std::string& text) const {
  return target_ ? configuration_text(*target_, problem_, text, device_) : text;
}

std::string sizes_text(const NamedValues& sizes) {
  const bool alike = std::all_of(sizes.begin(), sizes.end(), [&](const NamedValue& size) {
    return size.value == sizes.front().value;
  });
  return alike && !sizes.empty() ? sizes.front().value.text() : to_text(sizes);
}

}  // namespace autotune::cli
