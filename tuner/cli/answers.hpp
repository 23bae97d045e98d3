// SPDX-License-Identifier: Apache-2.0
// The answers of query: from the user's database and the one shipped with the tool.
#pragma once

#include <optional>
#include <vector>

#include "tuner/cli/answer_judge.hpp"
#include "tuner/cli/tuned_entries.hpp"

namespace autotune::cli {

/// An entry, and how far it is from the request.
struct Answer {
  db::TunedEntry entry;
  std::optional<NamedValues> asked;  // absent without --size
  double distance = 0;               // root mean square of log2 of the sizes' ratios
  bool space_changed = false;        // since it was tuned
  bool shipped = false;              // with the tool
  bool stale = false;                // the kernel has changed since
  std::string note = {};             // of a pin: why
  std::string refuted_pin = {};      // a pinned configuration that failed
  bool failed_there = false;         // for the sizes asked about, which have no answer
};

/// The user's database, which may be missing, and the shipped one.
class Databases {
 public:
  /// Both arguments must outlive it. With --db, the shipped database is not used.
  Databases(const Arguments& arguments, AnswerJudge& judge);

  /// Throws the Error of the user's database if neither has an answer.
  std::vector<Answer> answers();

  const std::optional<db::TunedStore>& own() const { return own_; }
  const std::optional<db::TunedStore>& shipped() const { return shipped_; }

 private:
  std::vector<Answer> shipped_answers();
  std::vector<Answer> answers_of(const db::TunedStore& store, bool shipped);

  const Arguments& arguments_;
  AnswerJudge& judge_;
  std::optional<db::TunedStore> own_, shipped_;
};

}  // namespace autotune::cli
