// SPDX-License-Identifier: Apache-2.0
// What is exported of a database: answers as code, and the trials of one problem as recorded
// results.
#pragma once

#include <vector>

#include "db/store.hpp"
#include "tuner/cli/answer_judge.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/interchange/recorded_results.hpp"

namespace autotune::cli {

/// The current answers of --target (and --size, --device, --set) on GPUs, one for each problem and
/// GPU: that of the default policy, else the first. Says on stderr what is left out. Throws Error
/// if there are none.
std::vector<db::TunedEntry> exported_entries(const Arguments& arguments, Databases& databases,
                                             AnswerJudge& judge);

/// A target's name as a C++ identifier.
std::string identifier_of(std::string name);

/// The trials of the search or an import: the latest result of each configuration. Leaves out
/// configurations of an earlier manifest, which have other parameters than the latest one.
/// What failed under another policy has failed here, too.
RecordedResults stored_results(const db::TunedStore& store, const db::TunedEntry& entry);

/// The problems selected by --target, --size, --device, --set and --context, whatever their answers
/// are. Leaves out those without trials, if others have some: a search stores its trials under the
/// context that decides, and for other contexts only what its playoff decided there. Throws Error
/// if there are none.
std::vector<db::TunedEntry> searched_entries(const Arguments& arguments,
                                             const db::TunedStore& store);

/// The only one of searched_entries(). Throws Error that lists them if there are several.
db::TunedEntry single_entry(const Arguments& arguments, const db::TunedStore& store);

// Actions of autotune db in their own sources.

int run_export(const Arguments& arguments);
/// export --format cpp --embed: compiles the answers of --target and writes a header with them.
/// Throws UsageError if their settings differ, Error if there is no answer.
int run_export_embedded(const Arguments& arguments);
/// export --format source.
int run_export_source(const Arguments& arguments);
/// import and merge.
int run_import(const Arguments& arguments);
int run_convert_names(const Arguments& arguments);

}  // namespace autotune::cli
