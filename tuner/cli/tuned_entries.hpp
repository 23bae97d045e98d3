// SPDX-License-Identifier: Apache-2.0
// What query and db look for in the database, and what they say when it is not there.
#pragma once

#include <optional>
#include <vector>

#include "db/store.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/core/target.hpp"

namespace autotune::cli {

/// Of --db, else the default place.
db::TunedStore open_store(const Arguments& arguments, db::Mode mode);

/// --target as databases know it: the name, where it is a manifest the one that stands in that;
/// empty when it is not given.
std::string target_name(const Arguments& arguments);

/// What is tuned, for --target and --device when given, the latest kernel of each problem. Throws
/// Error with near names when there is nothing.
std::vector<db::TunedEntry> entries_for(const Arguments& arguments, const db::TunedStore& store);
/// The same of the target with this name, where --target may be a manifest.
std::vector<db::TunedEntry> entries_for(const Arguments& arguments, const db::TunedStore& store,
                                        const std::string& target);

/// Those of entries_for() that have every --set. Throws Error when there are none.
std::vector<db::TunedEntry> chosen_entries(const Arguments& arguments, const db::TunedStore& store);

/// Sizes and settings of an entry.
struct EntryProblem {
  NamedValues sizes, settings;
};
EntryProblem problem_of(const db::TunedEntry& entry);

/// Whether the entry has every one of them.
bool has_settings(const db::TunedEntry& entry, const NamedValues& chosen);

/// What the database says of a problem, for a person: where its target is at hand, without settings
/// at their default and without parameters that mean nothing in a configuration. JSON has all.
class Readable {
 public:
  /// `target` is a name; a manifest that --target names is at hand as well.
  Readable(const Arguments& arguments, const std::string& target, const std::string& problem,
           const db::DeviceRow& device);

  std::string problem() const;
  std::string configuration(const std::string& text) const;

 private:
  Problem problem_;
  DeviceInfo device_;
  std::optional<Target> target_;
};

/// The problems that --size means, as the target names its sizes. Throws UsageError.
std::vector<NamedValues> asked_sizes(const Arguments& arguments,
                                     const std::vector<db::TunedEntry>& entries);

/// `512`, or `M=1 N=4096 K=4096` when the sizes differ.
std::string sizes_text(const NamedValues& sizes);

}  // namespace autotune::cli
