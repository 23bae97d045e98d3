// SPDX-License-Identifier: Apache-2.0
// Decides whether stored answers are still valid configurations of their targets.
#pragma once

#include <cstdint>
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
#include "tuner/session/tuning_request.hpp"
#include "tuner/target/catalog.hpp"

namespace autotune::cli {

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

}  // namespace autotune::cli
