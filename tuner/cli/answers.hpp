// SPDX-License-Identifier: Apache-2.0
// What query and explain show: stored results of the user's database and of the one shipped with
// the tool. For given sizes, tuner/answer says which.
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "db/store.hpp"
#include "tuner/answer/target_lookup.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/json/json.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/session/tuning_request.hpp"
#include "tuner/target/catalog.hpp"

namespace autotune::cli {

// Finds tuned entries for query, explain and db, with errors if there are none.

class AnswerJudge;

/// `--context` selects the results for one context of a call. The functions below that find entries
/// apply it.
extern const Option kContextOption;
/// The context of --context, if it is given.
std::optional<CallContext> asked_context(const Arguments& arguments);
/// The key of results in that context, else in the default one.
std::string asked_policy(const Arguments& arguments, DeviceKind kind);

/// Whether there is a user's database to open, or a path whose opening is an error: one that cannot
/// be followed, or a lock's, which may be missing.
bool has_own_database(const Arguments& arguments);

/// Opens --db, else the default database.
db::TunedStore open_store(const Arguments& arguments, db::Mode mode);
/// Opens a database for a change. A missing file is an error; it is not created.
db::TunedStore open_present_store(const Arguments& arguments);

/// The folder that the tool is installed in: /usr, if it is /usr/bin/autotune.
std::filesystem::path prefix();
/// The file of the results that were installed with the tool.
std::filesystem::path shipped_database();
/// These results where they answer for what the user's database lacks: without --db. nullopt if
/// there are none; warns if they cannot be read.
std::optional<db::TunedStore> shipped_store(const Arguments& arguments);

/// The stored name of --target; for a manifest, the name in it. Empty without --target.
std::string target_name(const Arguments& arguments);

/// Of each problem, the entry of the kernel that is here, else of the first in this order.
std::vector<db::TunedEntry> one_of_each(const Arguments& arguments,
                                        std::vector<db::TunedEntry> entries);

/// The tuned entries for --target, --device and --set, if given: one_of_each(). Throws Error with
/// near names if there are none.
std::vector<db::TunedEntry> chosen_entries(const Arguments& arguments, const db::TunedStore& store);

/// The entries of exactly the sizes in --size, for the target with this name (--target may be a
/// manifest). May be empty.
std::vector<db::TunedEntry> exact_entries(const Arguments& arguments, const db::TunedStore& store,
                                          const std::string& target);

/// exact_entries() of --target and --size, else chosen_entries().
std::vector<db::TunedEntry> stored_entries(const Arguments& arguments, const db::TunedStore& store);

/// Problems of --target, --device, --set and --size that were searched, but have no answer: not
/// yet, or because no configuration is correct. May be empty.
std::vector<db::TunedEntry> unanswered_entries(const Arguments& arguments,
                                               const db::TunedStore& store);

/// Whether anything is tuned for --target on --device.
bool is_tuned(const Arguments& arguments, const db::TunedStore& store);

/// The latest of chosen_entries() for each device, settings and policy. Throws Error as it does.
std::vector<db::TunedEntry> entries_of_each_place(const Arguments& arguments,
                                                  const db::TunedStore& store);

/// The problems of --size. Those of a target whose manifest is here may leave out sizes that have a
/// default, and have free sizes. Throws UsageError.
std::vector<NamedValues> asked_sizes(const Arguments& arguments, AnswerJudge& judge,
                                     const db::KernelRow& kernel,
                                     FreeSizes free = FreeSizes::refused);

/// Prints the first few as warnings, because a wrong file may be wrong in every line.
void warn_of(const std::vector<std::string>& sentences);

/// The destructor warns of the rows that the store could not use.
class LeftOutWarning {
 public:
  explicit LeftOutWarning(const db::TunedStore& store) : store_(store) {}
  ~LeftOutWarning();
  LeftOutWarning(const LeftOutWarning&) = delete;
  LeftOutWarning& operator=(const LeftOutWarning&) = delete;

 private:
  const db::TunedStore& store_;
};

/// `{"M", "N"}` of `M N`.
std::vector<std::string> words_of(const std::string& text);

/// Sizes and settings of an entry.
struct EntryProblem {
  NamedValues sizes, settings;
};
EntryProblem problem_of(const db::TunedEntry& entry);
/// `gemm M=1 N=8 K=9 dtype=f32 on NVIDIA H200`.
std::string name_of(const db::TunedEntry& entry);
std::vector<std::int64_t> size_values(const NamedValues& sizes);

/// Of several, those with the default of each setting that --set does not name, if there are any.
/// Does nothing for targets that are not found by name.
void prefer_default_settings(const Arguments& arguments, std::vector<db::TunedEntry>& entries);

/// Whether the entry has all of these settings.
bool has_settings(const db::TunedEntry& entry, const NamedValues& chosen);

/// Stored texts for people. If the target is known, settings at their default and parameters
/// without a meaning are left out. JSON has everything.
class Readable {
 public:
  /// `target` may be nullptr and must outlive it.
  Readable(const Target* target, const std::string& problem, const db::DeviceRow& device);

  std::string problem() const;
  std::string configuration(const std::string& text) const;

 private:
  const Target* target_;
  Problem problem_;
  DeviceInfo device_;
};

/// `512`, or `M=1 N=4096 K=4096` if the sizes differ.
std::string sizes_text(const NamedValues& sizes);

// Decides whether stored answers are still valid configurations of their targets.

/// Describes what in `values` the target's parameters do not have; empty if they have everything.
std::string foreign_part(const Target& target, const NamedValues& values);

/// Reads each target once: the manifest of --target, else the target that `find` returns for this
/// name.
class AnswerJudge {
 public:
  using Find = std::function<Target(const std::string& name)>;
  explicit AnswerJudge(const Arguments& arguments, Find find = find_target);

  /// The current target; nullptr if it is not found.
  const Target* target_called(const std::string& name);
  /// The target of an entry; nullptr if it is not found or has changed since.
  const Target* target_of(const db::TunedEntry& entry);
  /// Whether the target's parameters or constraints have changed since the search.
  bool space_changed(const db::TunedEntry& entry);

  /// Why its configuration is not valid for its problem on its device. Empty if it is valid, or if
  /// the target or the device is unknown here.
  std::string complaint(const db::TunedEntry& entry);

 private:
  const TargetProgram* program_for(const Target& target, const db::TunedEntry& entry);

  Find find_;
  std::string manifest_;  // of --target
  std::map<std::string, std::optional<Target>> targets_;
  using Place = std::tuple<std::string, std::string, std::string>;  // kernel, device, settings
  std::map<Place, std::optional<TargetProgram>> programs_;          // with given sizes
};

/// Leaves out invalid answers of the store while the judge lives, and those that another database
/// refutes.
void use_valid_only(db::TunedStore& store, AnswerJudge& judge,
                    const db::TunedStore* other = nullptr);

/// The sizes of a program: those of the key, with the defaults of what is left out, then the free
/// ones, kDefaultSize where none is given. Throws Error if a size without a default is missing.
std::vector<std::int64_t> numbers_in_order(const Target& target, const NamedValues& sizes);

/// What a program with libautotune gets, by the function that libautotune calls.
struct ProgramAnswer {
  const TargetLookup* lookup = nullptr;  // it knows the texts
  LookupAnswer answer;
  Problem problem;
};

/// Reads each target's layers once: the user's database and what is shipped, with --db that file
/// only.
class ProgramAnswers {
 public:
  /// The judge must outlive it.
  ProgramAnswers(const Arguments& arguments, AnswerJudge& judge);
  /// In these layers only.
  ProgramAnswers(AnswerJudge& judge, std::vector<db::Layer> layers)
      : judge_(judge), layers_(std::move(layers)) {}

  /// For these sizes, free ones included, with the settings, the policy and the device of a stored
  /// result. Throws Error if a program gets none; `lookup` is nullptr where the target is not known
  /// here.
  ProgramAnswer find(const db::TunedEntry& like, const NamedValues& sizes);
  /// The same for a device of which nothing need be stored.
  ProgramAnswer find(const Target& target, const NamedValues& settings, const DeviceInfo& device,
                     const std::string& policy, const NamedValues& sizes);

  /// What stood in the way of reading the databases, so far.
  std::vector<std::string> warnings() const;

 private:
  AnswerJudge& judge_;
  std::vector<db::Layer> layers_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>,
           std::unique_ptr<TargetLookup>>
      asked_;
};

/// From this database and from what is shipped; with an empty path, from what is shipped only. The
/// target must outlive it.
AnswerToday answers_today(const Arguments& arguments, const Target& target,
                          const DeviceInfo& device, const std::string& policy,
                          const std::filesystem::path& database);

/// Whether a look-up at the problem of this stored result answers with it. Where its target is not
/// known here, whether it may be an answer.
bool is_given(const db::TunedEntry& entry, const ProgramAnswer& given);

/// Keeps what is_given(), and says on stderr what it leaves out.
void keep_given(std::vector<db::TunedEntry>& entries, ProgramAnswers& programs);

/// One line: `gemm KERNEL=split BM=128 …, 23.76 us`, or `cublas, 8.900 us expected`.
std::string one_line(const ProgramAnswer& given);
/// null without `--size`, or where the target is not known here.
Json program_json(const ProgramAnswer& given);

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
