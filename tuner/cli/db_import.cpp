// SPDX-License-Identifier: Apache-2.0
// autotune db import and merge: adds the contents of files to a database.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>

#include "db/exchange.hpp"
#include "tuner/cli/answer_judge.hpp"
#include "tuner/cli/db_actions.hpp"
#include "tuner/cli/output_file.hpp"
#include "tuner/cli/todays_names.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
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
