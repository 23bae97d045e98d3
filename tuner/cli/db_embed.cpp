// SPDX-License-Identifier: Apache-2.0
// autotune db export --embed: answers with their cubins, as one C++ header.
#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "tuner/cli/db_actions.hpp"
#include "tuner/cli/db_export.hpp"
#include "tuner/cli/embedded_header.hpp"
#include "tuner/cli/output_file.hpp"
#include "tuner/cli/request.hpp"
#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
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
  const auto threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
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
  std::vector<CompiledAnswer> answers = compile_all(std::move(entries), judge);
  drop_failed(answers, database_path(arguments).string());
  const auto write = [&](std::ostream& out) { write_embedded_header(out, answers); };
  if (const auto output = arguments.find("output")) {
    write_output(*output, write);
  } else {
    write(std::cout);
  }
  const std::optional<db::TunedStore>& own = databases.own();
  return own && !own->left_out().empty() ? kFailed : kDone;
}

}  // namespace autotune::cli
