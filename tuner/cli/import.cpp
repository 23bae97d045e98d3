// SPDX-License-Identifier: Apache-2.0
// autotune import: files of other tuners.
#include "tuner/cli/import.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iostream>

#include "db/facts.hpp"
#include "db/store.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/file/replace_file.hpp"
#include "tuner/interchange/t1_problem.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

std::string policy_of(RecordedResults::Format file) {
  return std::string(db::kOtherTuner) +
         (file == RecordedResults::Format::t4 ? "t4" : "kernel_tuner");
}

/// Converts `2026-11-22 14:34:21.102791+00:00` to our form. Returns `otherwise` for other forms.
std::string time_text_of(const std::string& timestamp, const std::string& otherwise) {
  constexpr std::string_view kForm = "0000-00-00 00:00:00.000000", kUtc = "+00:00";
  if (timestamp.size() != kForm.size() + kUtc.size() || !timestamp.ends_with(kUtc)) {
    return otherwise;
  }
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = timestamp[i] >= '0' && timestamp[i] <= '9';
    if (kForm[i] == '0' ? !is_digit : timestamp[i] != kForm[i]) return otherwise;
  }
  return timestamp.substr(0, 10) + 'T' + timestamp.substr(11, 15) + 'Z';
}

/// The position of a target's parameter in the file; else its only possible value.
struct SpaceColumn {
  std::optional<std::size_t> place;
  Value value;
};

SpaceColumn column_of(const Parameter& parameter, const RecordedResults& results,
                      const std::string& target) {
  const auto found = std::ranges::find(results.parameters, parameter.name, &Parameter::name);
  if (found != results.parameters.end()) {
    return {static_cast<std::size_t>(found - results.parameters.begin()), {}};
  }
  if (parameter.values.size() == 1) return {std::nullopt, parameter.values.front()};
  throw Error(format("it has no parameter {} of the target {}: name it as the file does",
                     parameter.name, target));
}

/// A parameter of one value only, such as a filter's width, may be a size of the target.
void expect_known(const RecordedResults& results, const Target& target) {
  std::vector<std::string> names;
  for (const Parameter& parameter : target.parameters) names.push_back(parameter.name);
  for (const Parameter& recorded : results.parameters) {
    if (recorded.values.size() == 1 || std::ranges::count(names, recorded.name) > 0) continue;
    throw Error(format("the target {} has no parameter {}: {}", target.name, recorded.name,
                       suggestion(recorded.name, names)));
  }
}

std::vector<SpaceColumn> columns_of(const RecordedResults& results, const Target& target) {
  expect_known(results, target);
  std::vector<SpaceColumn> columns;
  for (const Parameter& parameter : target.parameters) {
    columns.push_back(column_of(parameter, results, target.name));
  }
  return columns;
}

/// The parameter's value that the recorded one means. In a file, `1.5` is a word and `2.0` an
/// integer.
Value value_in(const Parameter& parameter, const Value& recorded) {
  const Value given = recorded.is_word() ? parse_value(recorded.word()) : recorded;
  const Value* const meant = meant_value(parameter.values, given);
  return meant ? *meant : recorded;
}

Trial trial_of(const RecordedResult& result, Configuration configuration) {
  Trial trial;
  trial.configuration = std::move(configuration);
  trial.outcome = result.outcome;
  if (result.seconds) {
    const double seconds = *result.seconds;
    trial.measurement = Measurement{seconds, seconds, seconds, result.samples, 0, false};
  }
  trial.compile_seconds = result.compile_seconds;
  return trial;
}

db::DecisionRow decision_for(const db::TrialRow& fastest, const std::string& created_at) {
  db::DecisionRow row;
  static_cast<db::Times&>(row) = fastest;
  row.key = fastest.key;
  row.configuration = fastest.configuration;
  row.gflops = fastest.gflops;
  row.provenance = "imported";
  row.created_at = created_at;
  return row;
}

void decide(ImportedRows& rows) {
  const db::TrialRow* fastest = nullptr;
  std::string latest = rows.started_at;
  for (const db::TrialRow& row : rows.trials) {
    latest = std::max(latest, row.created_at);
    if (row.outcome != "ok") continue;
    if (!fastest || *row.median_ns < *fastest->median_ns) fastest = &row;
  }
  if (fastest) rows.decision = decision_for(*fastest, latest);
}

}  // namespace

ImportedRows imported_rows(const RecordedResults& results, const Target& target,
                           const Problem& problem, const DeviceInfo& device,
                           const std::string& otherwise) {
  const std::vector<SpaceColumn> columns = columns_of(results, target);
  const ParameterSpace space = space_of(target, problem, device);
  const double flops = work_of(target, problem, device).flops;
  ImportedRows rows;
  for (const RecordedResult& result : results.results) {
    Configuration configuration;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const SpaceColumn& column = columns[i];
      const Parameter& parameter = target.parameters[i];
      configuration.push_back(
          {parameter.name,
           column.place ? value_in(parameter, result.values[*column.place]) : column.value});
    }
    if (!space.find(configuration)) {
      ++rows.left_out;
      continue;
    }
    db::TrialRow& row =
        rows.trials.emplace_back(trial_row(trial_of(result, std::move(configuration)), flops));
    row.key.problem = problem.text();
    row.key.policy = policy_of(results.format);
    row.created_at = time_text_of(result.timestamp, otherwise);
    if (rows.started_at.empty() || row.created_at < rows.started_at) {
      rows.started_at = row.created_at;
    }
  }
  decide(rows);
  return rows;
}

namespace {

/// The database's device of this name, else the known GPU of this name.
db::DeviceRow device_called(const std::string& name, const db::TunedStore& store) {
  for (const db::DeviceRow& device : store.devices()) {
    if (device.name == name) return device;
  }
  DeviceInfo info = device_info(find_gpu(name));
  info.kind = DeviceKind::cuda;
  return device_row(info);
}

std::string device_name(const Arguments& arguments, const RecordedResults& results,
                        const std::string& file) {
  const std::string name = arguments.find("device").value_or(results.device);
  if (name.empty()) {
    throw UsageError(format("{}: does not name its device: name the GPU with --device", file));
  }
  return name;
}

/// The file's time, for results without a time of day: copies of a file that keep it give equal
/// rows.
std::string time_of(const std::filesystem::path& file) {
  const auto written = std::filesystem::last_write_time(file);
  return db::time_text(std::chrono::file_clock::to_sys(
      std::chrono::time_point_cast<std::chrono::microseconds>(written)));
}

void store_rows(db::TunedStore& store, ImportedRows rows, const db::DeviceRow& device,
                const Target& target, const std::string& command) {
  db::SessionRow session;
  session.started_at = rows.started_at;
  session.command = command;
  const std::string session_id = store.begin_session(session);
  const std::string device_id = store.add_device(device);
  const std::string kernel_id = store.add_kernel(kernel_row(target));
  const auto complete = [&](auto& row) {
    row.session = session_id;
    row.key.device = device_id;
    row.key.kernel = kernel_id;
  };
  for (db::TrialRow& trial : rows.trials) complete(trial);
  store.append(rows.trials);
  if (!rows.decision) return;
  complete(*rows.decision);
  store.add_decision(*rows.decision);
}

void import_file(const Arguments& arguments, const Target& target, const std::string& file,
                 db::TunedStore& store) {
  const RecordedResults results = read_recorded_results(file);
  const Problem problem = problem_of(arguments, target, "size");
  const db::DeviceRow device = device_called(device_name(arguments, results, file), store);
  ImportedRows rows = [&] {
    try {
      return imported_rows(results, target, problem, device_of(device), time_of(file));
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      throw Error(format("{}: {}", file, error.what()));
    }
  }();
  if (rows.trials.empty()) {
    throw Error(
        format("{}: none of its {} configurations is valid for {} {} on {}: autotune check "
               "shows those that are",
               file, results.results.size(), target.name, problem.text(), device.name));
  }
  std::cout << format("{}: {} trials of {} {} on {} imported", file, rows.trials.size(),
                      target.name, problem_text(target, problem), device.name);
  if (rows.left_out > 0) std::cout << format(", {} left out: not valid there", rows.left_out);
  std::cout << '\n';
  if (results.is_cut_off) {
    std::cerr << format("warning: {}: its end is missing; the last result is left out\n", file);
  }
  store_rows(store, std::move(rows), device, target,
             "import " + std::filesystem::path(file).filename().string());
}

/// Recorded results: rows of the database.
int import_results(const Arguments& arguments, const std::vector<std::string>& files) {
  const Target target = find_target(arguments.text("target"));
  arguments.text("size");
  db::TunedStore store = open_store(arguments, db::Mode::read_write);
  for (const std::string& file : files) import_file(arguments, target, file, store);
  return kDone;
}

std::filesystem::path output_of(const Arguments& arguments, const T1Manifest& manifest) {
  const auto given = arguments.find("output");
  const std::filesystem::path file = given ? *given : manifest.name + ".target.toml";
  if (std::filesystem::exists(file)) {
    throw UsageError(format("{}: exists, and is not overwritten: name another file with --output",
                            file.string()));
  }
  return file;
}

/// T1 problems: manifests.
int import_t1(const Arguments& arguments, const std::vector<std::string>& files) {
  if (arguments.has("output") && files.size() > 1) {
    throw UsageError("--output names one manifest: import one file at a time");
  }
  for (const std::string& name : files) {
    const T1Manifest manifest = t1_manifest(name);
    const std::filesystem::path file = output_of(arguments, manifest);
    write_file(file, [&](std::ostream& stream) { stream << manifest.text; });
    std::cout << format("{}: written from {}\n", file.string(), name);
    for (const std::string& each : manifest.to_complete) std::cout << format("  {}\n", each);
    std::cout << format("then: autotune check {} --sizes …\n",
                        shell_text({{"./" + file.filename().string()}}));
  }
  return kDone;
}

int run(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positional();
  if (words.size() < 2) {
    throw UsageError(
        "import needs a kind and a file, such as: autotune import kt cache.json "
        "--target ./mine.target.toml --size 4096");
  }
  const std::vector<std::string> files(words.begin() + 1, words.end());
  return words[0] == "t1" ? import_t1(arguments, files) : import_results(arguments, files);
}

}  // namespace

const Verb kImport{
    .name = "import",
    .synopsis =
        "t1 FILE [--output NAME.target.toml] | kt|t4 FILE… --target T --size S [--device NAME]",
    .summary = "Read files of other tuners: tuning problems and results",
    .details =
        R"(* `t1` (the T1 format of tuning problems) becomes a manifest, by default `NAME.target.toml` in the
  current folder. Expressions and lists in Python are translated, never run. What has no counterpart
  is a comment in the manifest. The output names what is to be completed or checked, with its place.
* `kt` (Kernel Tuner's cache files, cut-off ones too) and `t4` (T4 results) become trials of the
  target at `--size`, and their fastest configuration an answer of provenance `imported`. Parameters
  have the names of the file. Configurations that are not valid for the target are left out.
* Imported times have a policy of their own, such as `by=kernel_tuner`. They are never compared with
  times of this tool, and no program gets them as an answer: they were not verified here.
* The device is the file's; `--device` names another one, or that of T4 results, which have none.

`autotune db import` reads what `autotune db export` wrote.)",
    .options = {{"output", "FILE", "t1: the manifest to write"},
                {"target", "T", "kt, t4: a target's name or the path of a manifest"},
                {"size", "S", "kt, t4: the problem, as for tune"},
                {"set", "NAME=VALUE", "kt, t4: a setting of the problem", "", true},
                {"device", "NAME", "kt, t4: the GPU that was measured"},
                {"db", "FILE", "kt, t4: the database"}},
    .positional = "KIND",
    .words = "t1 kt t4",
    .run = run};

}  // namespace autotune::cli
