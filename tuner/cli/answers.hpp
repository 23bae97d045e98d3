// SPDX-License-Identifier: Apache-2.0
// What query and explain show: stored results of the user's database and of the one shipped with
// the tool. For given sizes, tuner/answer says which.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "tuner/cli/answer_judge.hpp"
#include "tuner/cli/tuned_entries.hpp"

namespace autotune::cli {

struct Answer {
  /// The stored result. Where nothing is stored, it has the problem, the device and the chosen
  /// configuration only.
  db::TunedEntry entry;
  bool is_stored = true;
  bool space_changed = false;    // since it was tuned
  bool shipped = false;          // with the tool
  bool stale = false;            // the kernel has changed since
  std::string note = {};         // of a pin: why
  std::string refuted_pin = {};  // a pinned configuration that failed
  /// `lookup` is nullptr without --size, or if the target is not known here.
  ProgramAnswer given = {};

  /// Whether free sizes are away from their defaults: nothing is stored for these.
  bool is_away() const { return !given.problem.free.empty(); }
};

/// The command that measures the problem of an entry.
std::string tune_command(const Arguments& arguments, const Target& target,
                         const db::TunedEntry& entry);

/// The user's database, which may be missing, and the shipped one. The destructor warns of the rows
/// that it could not use.
class Databases {
 public:
  /// Both arguments must outlive it. With --db, the shipped database is not used.
  Databases(const Arguments& arguments, AnswerJudge& judge);

  /// With --size: for each device, settings and policy with results, the answer for these sizes; if
  /// there are none, that for --device or the first GPU of this machine. Without: what is tuned.
  /// Throws the Error of the user's database if there is no answer.
  std::vector<Answer> answers(FreeSizes free = FreeSizes::refused);

  /// The stored results among the answers; without --size, among those for what is tuned.
  std::vector<db::TunedEntry> measured();

  /// With --size: as answers(), where results of GPUs of this architecture are, else for this GPU;
  /// free sizes follow the key in the problem.
  /// Without: what is tuned for the architecture; shipped results only with --target, or where the
  /// user has none. Throws the Error of the user's database if there is nothing.
  std::vector<db::TunedEntry> asked_on(const DeviceInfo& gpu);

  const std::optional<db::TunedStore>& own() const { return own_; }
  /// The database of a stored answer; of another one, any.
  const db::TunedStore& store_of(const Answer& answer) const {
    return answer.shipped || !own_ ? *shipped_ : *own_;
  }

 private:
  using Find = std::vector<db::TunedEntry>(const Arguments&, const db::TunedStore&);

  std::vector<db::TunedEntry> entries_in(const std::optional<db::TunedStore>& store, Find* find);
  std::vector<Answer> listed();
  std::vector<db::TunedEntry> places();
  db::TunedEntry place_on(const DeviceInfo& device);
  std::vector<Answer> answers_at(const std::vector<db::TunedEntry>& places, FreeSizes free);
  DeviceInfo device_here();
  Answer answer_at(const db::TunedEntry& place, const NamedValues& sizes);
  std::optional<Answer> stored(const db::TunedEntry& place, const std::string& problem,
                               const ProgramAnswer& given);
  Answer judged(const db::TunedStore& store, db::TunedEntry entry);
  [[noreturn]] void say_why() const;

  const Arguments& arguments_;
  AnswerJudge& judge_;
  ProgramAnswers programs_;
  std::optional<db::TunedStore> own_, shipped_;
  std::optional<LeftOutWarning> own_warning_, shipped_warning_;
  std::exception_ptr why_, shipped_why_;  // these databases have no entries
};

}  // namespace autotune::cli
