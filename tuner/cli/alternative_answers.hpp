// SPDX-License-Identifier: Apache-2.0
// Answers of the targets that manifests name as alternatives: libautotune answers with them where
// they are faster.
#pragma once

#include <vector>

#include "db/store.hpp"
#include "tuner/cli/answer_judge.hpp"

namespace autotune::cli {

/// For each of these entries, the one of its target's alternative at the same sizes whose kernel
/// took less time on the same device than the entry's or the vendor's library, if the store has it
/// and its kernel is the current one. No entry is returned that is among the given ones.
std::vector<db::TunedEntry> alternative_entries(const std::vector<db::TunedEntry>& entries,
                                                const db::TunedStore& store, AnswerJudge& judge);

}  // namespace autotune::cli
