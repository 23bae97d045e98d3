// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/db_export.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "db/exchange.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/interchange/recorded_results.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/records/records.hpp"
#include "tuner/replay/replay.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {

// autotune db export: facts or answers, as text or as a database.

namespace {

/// One entry for each problem and GPU: that of the default policy, else the first.
std::vector<db::TunedEntry> one_for_each_gpu(std::vector<db::TunedEntry> entries) {
  Policy policy;
  for (const CallContext context : {CallContext::chain, default_context(DeviceKind::cuda)}) {
    policy.context = context;  // the last one comes first
    std::stable_partition(entries.begin(), entries.end(), [&](const db::TunedEntry& entry) {
      return entry.best.key.policy == key_text(policy);
    });
  }
  std::set<std::pair<std::string, std::string>> seen;
  std::erase_if(entries, [&](const db::TunedEntry& entry) {
    return !seen.emplace(entry.device.id, entry.best.key.problem).second;
  });
  return entries;
}

/// Programs are exported for any device.
void keep_gpus(std::vector<db::TunedEntry>& entries, AnswerJudge& judge, const std::string& file) {
  const auto others = std::erase_if(entries, [&](const db::TunedEntry& entry) {
    return entry.device.compute_capability == 0 && !judge.target_of(entry)->build;
  });
  if (entries.empty()) throw Error(format("{}: nothing is tuned there on a GPU", file));
  if (others > 0)
    warn_of({format("{} left out: not of a GPU",
                    others == 1 ? "an answer is" : format("{} answers are", others))});
}

}  // namespace

std::vector<db::TunedEntry> exported_entries(const Arguments& arguments, Databases& databases,
                                             AnswerJudge& judge) {
  arguments.text("target");
  const std::string file = database_path(arguments).string();
  std::vector<db::TunedEntry> entries = databases.measured();
  if (entries.empty()) {
    throw Error(format(
        "{}{} is not tuned in {}: tune it, or name one of autotune query --target {}",
        arguments.text("target"), arguments.has("size") ? " of size " + arguments.text("size") : "",
        file, shell_text({{arguments.text("target")}})));
  }
  keep_current(entries, judge, file);
  keep_gpus(entries, judge, file);
  return one_for_each_gpu(std::move(entries));
}

std::string identifier_of(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "_" + name : name;
}

std::vector<db::TunedEntry> searched_entries(const Arguments& arguments,
                                             const db::TunedStore& store) {
  arguments.text("target");
  std::vector<db::TunedEntry> entries = stored_entries(arguments, store);
  if (entries.empty()) {
    throw Error(format("{} of size {} is not tuned in {}", arguments.text("target"),
                       arguments.text("size"), store.path().string()));
  }
  const auto has_no_trials = [&](const db::TunedEntry& entry) {
    return store.trials(entry.best.key).empty();
  };
  if (!std::ranges::all_of(entries, has_no_trials)) std::erase_if(entries, has_no_trials);
  return entries;
}

RecordedResults stored_results(const db::TunedStore& store, const db::TunedEntry& entry) {
  const bool has_trials = !store.trials(entry.best.key).empty();
  RecordedResults results;
  if (has_trials) results = recorded_trials(store.history(entry.best.key));
  results.device = entry.device.name;
  results.kernel = entry.kernel.target;
  for (const NamedValue& size : problem_of(entry).sizes) {
    results.problem_size.push_back(static_cast<double>(size.value.integer()));
  }
  if (results.results.empty()) {
    throw Error(format("{}: its trials are not in {}, only its answer", name_of(entry),
                       store.path().string()));
  }
  return results;
}

namespace {

/// The only one with the default settings, else the only one. Throws Error that lists them.
db::TunedEntry only_one(const Arguments& arguments, std::vector<db::TunedEntry> entries) {
  prefer_default_settings(arguments, entries);
  if (entries.size() == 1) return std::move(entries.front());
  constexpr std::size_t kShown = 8;
  std::vector<std::string> names;
  for (const db::TunedEntry& entry : entries) {
    names.push_back(
        format("{} on {} ({})", entry.best.key.problem, entry.device.name, entry.best.key.policy));
  }
  if (names.size() > kShown) {
    names.resize(kShown);
    names.push_back(format("and {} more", entries.size() - kShown));
  }
  throw Error(
      format("{} problems are tuned: choose one with --size, --device, --set or --context: {}",
             entries.size(), joined(names, "; ")));
}

}  // namespace

db::TunedEntry single_entry(const Arguments& arguments, const db::TunedStore& store) {
  return only_one(arguments, searched_entries(arguments, store));
}

namespace {

/// The trials of one problem, in a format of other tuners.
void write_results(const Arguments& arguments, const db::TunedStore& store,
                   const std::string& format_name, std::ostream& out) {
  const RecordedResults results = stored_results(store, single_entry(arguments, store));
  out << (format_name == "t4" ? t4_results(results) : kernel_tuner_cache(results) + '\n');
}

struct Source {
  db::TunedStore store;
  db::Mode mode = db::Mode::read_only;
};

/// The user's database; the shipped one where that has nothing of the target.
Source source_of(const Arguments& arguments) {
  std::optional<db::TunedStore> own;
  if (arguments.has("db") || has_own_database(arguments)) {
    own = open_store(arguments, db::Mode::read_only);
  }
  const bool has_answers = own && (!arguments.has("target") || is_tuned(arguments, *own));
  if (!has_answers && arguments.has("target")) {
    std::optional<db::TunedStore> shipped = shipped_store(arguments);
    if (shipped && is_tuned(arguments, *shipped)) {
      return {*std::move(shipped), db::Mode::shipped};
    }
  }
  if (own) return {*std::move(own)};
  return {open_store(arguments, db::Mode::read_only)};  // there is no such file
}

/// What look-ups answer with, if this is their only database.
std::vector<db::TunedEntry> header_entries(const Arguments& arguments, const Source& source,
                                           AnswerJudge& judge) {
  const db::TunedStore& store = source.store;
  const bool is_all = !arguments.has("target") && !arguments.has("device");
  std::vector<db::TunedEntry> entries =
      is_all ? one_of_each(arguments, store.tuned({})) : chosen_entries(arguments, store);
  ProgramAnswers programs(judge, {{store.path(), source.mode}});
  keep_given(entries, programs);
  return entries;
}

/// Returns the number of damaged facts that are left out. The store reports damaged answers.
std::int64_t write_export(const Arguments& arguments, const Source& source, AnswerJudge& judge,
                          const std::string& format_name, std::ostream& out) {
  const db::TunedStore& store = source.store;
  if (format_name == "jsonl") return db::export_json_lines(store, out);
  if (format_name == "t4" || format_name == "kt") {
    write_results(arguments, store, format_name, out);
  } else {
    db::export_header(header_entries(arguments, source, judge), out);
  }
  return 0;
}

/// Adds to a database that exists. Returns the number of damaged rows that are left out.
std::int64_t write_database(const db::TunedStore& store, const std::filesystem::path& file) {
  std::error_code missing;
  if (std::filesystem::equivalent(file, store.path(), missing)) {
    throw UsageError(
        format("{}: is the database that is exported: name another file", file.string()));
  }
  db::TunedStore copy(file);
  const db::ImportReport report = db::merge(copy, store);
  warn_of(report.refused);
  return static_cast<std::int64_t>(report.refused.size());
}

}  // namespace

int run_export(const Arguments& arguments) {
  const std::string format_name = arguments.text("format");
  if (arguments.has("embed") && format_name != "cpp") {
    throw UsageError(format("--embed is for --format cpp, not {}", format_name));
  }
  if (format_name == "source") return run_export_source(arguments);
  if (arguments.has("embed")) return run_export_embedded(arguments);
  const bool whole = format_name == "jsonl" || format_name == "sqlite";
  if (whole && (arguments.has("target") || arguments.has("device"))) {
    throw UsageError(format("--format={} holds every fact and takes neither --target nor --device",
                            format_name));
  }
  Source source = source_of(arguments);
  db::TunedStore& store = source.store;
  const LeftOutWarning warning(store);
  AnswerJudge judge(arguments);
  use_valid_only(store, judge);
  const auto output = arguments.find("output");
  std::int64_t damaged = 0;
  if (format_name == "sqlite") {
    if (!output) throw UsageError("--format=sqlite needs --output FILE");
    damaged = write_database(store, *output);
  } else {
    write_result(output, [&](std::ostream& stream) {
      damaged = write_export(arguments, source, judge, format_name, stream);
    });
  }
  if (damaged > 0) {
    std::cerr << format(
        "warning: {}: {} damaged rows are left out: autotune db check tells which\n",
        store.path().string(), damaged);
  }
  const bool is_whole = source.mode == db::Mode::shipped || store.left_out().empty();
  return damaged == 0 && is_whole ? kDone : kFailed;
}

// autotune db export --embed: answers with their cubins, as one C++ header.

namespace {

constexpr double kEmbedSeconds = 600;

std::string label_of(const db::TunedEntry& entry) {
  return format("{} on {}", entry.best.key.problem, entry.device.name);
}

void expect_same_settings(const std::vector<db::TunedEntry>& entries) {
  std::set<std::string> settings;
  for (const db::TunedEntry& entry : entries) settings.insert(to_text(problem_of(entry).settings));
  if (settings.size() < 2) return;
  throw UsageError(
      format("--embed: one header has one combination of settings: choose with --set among {}",
             joined(std::vector<std::string>(settings.begin(), settings.end()), "; ")));
}

std::vector<CompiledAnswer> compile_all(std::vector<db::TunedEntry> entries, AnswerJudge& judge) {
  std::map<std::string, std::vector<db::TunedEntry>> by_device;
  for (db::TunedEntry& entry : entries) by_device[entry.device.name].push_back(std::move(entry));
  const int threads = usual_compile_threads();
  std::vector<CompiledAnswer> all;
  for (auto& [name, some] : by_device) {
    const DeviceInfo info = device_of(some.front().device);
    for (CompiledAnswer& answer :
         compile_answers(std::move(some), judge, info, threads, kEmbedSeconds)) {
      all.push_back(std::move(answer));
    }
  }
  return all;
}

void drop_failed(std::vector<CompiledAnswer>& answers, const std::string& file) {
  std::vector<std::string> sentences;
  std::erase_if(answers, [&](const CompiledAnswer& answer) {
    if (answer.kernel) return false;
    sentences.push_back(format("{} is left out: {}", label_of(answer.entry), answer.failure));
    return true;
  });
  warn_of(sentences);
  if (answers.empty()) throw Error(format("{}: none of its answers can be compiled", file));
}

}  // namespace

int run_export_embedded(const Arguments& arguments) {
  AnswerJudge judge(arguments);
  Databases databases(arguments, judge);
  std::vector<db::TunedEntry> entries = exported_entries(arguments, databases, judge);
  prefer_default_settings(arguments, entries);
  expect_same_settings(entries);
  for (const db::TunedEntry& entry : entries) {
    const Target* const target = judge.target_called(entry.kernel.target);
    if (target) require_kernels(*target, "an exported header");
  }
  std::vector<CompiledAnswer> answers = compile_all(std::move(entries), judge);
  drop_failed(answers, database_path(arguments).string());
  const auto write = [&](std::ostream& out) { write_embedded_header(out, answers); };
  write_result(arguments.find("output"), write);
  const std::optional<db::TunedStore>& own = databases.own();
  return own && !own->left_out().empty() ? kFailed : kDone;
}

// autotune db export --format source: one answer as CUDA sources.

namespace {

namespace fs = std::filesystem;

KernelExport chosen_export(const Arguments& arguments) {
  AnswerJudge judge(arguments);
  Databases databases(arguments, judge);
  const db::TunedEntry entry = only_one(arguments, exported_entries(arguments, databases, judge));
  return kernel_export(entry, *judge.target_of(entry));
}

void write_files(const KernelExport& exported, const fs::path& folder) {
  fs::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    write_output(folder / name, [&](std::ostream& file) { file << text; });
    std::cout << (folder / name).string() << '\n';
  };
  if (exported.unit.build) return write(exported.name + ".sh", program_script(exported));
  write(exported.name + ".cu", kernel_file(exported));
  write(exported.name + ".h", header_file(exported));
  const std::string test = test_file(exported);
  if (test.empty()) {
    warn_of({"there is no test: the reference of this target is no kernel"});
  } else {
    write(exported.name + "_test.cu", test);
    std::cout << format("cd {} && {} && ./{}_test\n", folder.string(), build_line(exported),
                        exported.name);
  }
}

}  // namespace

int run_export_source(const Arguments& arguments) {
  arguments.text("target");
  const KernelExport exported = chosen_export(arguments);
  if (const auto folder = arguments.find("output")) {
    write_files(exported, *folder);
  } else {
    std::cout << (exported.unit.build ? program_script(exported) : kernel_file(exported));
  }
  return kDone;
}

}  // namespace autotune::cli
