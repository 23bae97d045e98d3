// SPDX-License-Identifier: Apache-2.0
// Finds tuned entries for query, explain and db, with errors if there are none.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "db/store.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/core/target.hpp"
#include "tuner/measure/policy.hpp"

namespace autotune::cli {

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

}  // namespace autotune::cli
