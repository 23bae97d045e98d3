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
/// For what changes a database: where the name is mistyped, none is made.
db::TunedStore open_present_store(const Arguments& arguments);

/// --target as databases know it: the name, where it is a manifest the one that stands in that;
/// empty when it is not given.
std::string target_name(const Arguments& arguments);

/// What is tuned, for --target, --device and --set when given, the latest kernel of each problem.
/// Throws Error with near names when there is nothing.
std::vector<db::TunedEntry> chosen_entries(const Arguments& arguments, const db::TunedStore& store);

/// Those of exactly the sizes that --size means, of the target with this name (--target may be a
/// manifest). May be empty.
std::vector<db::TunedEntry> exact_entries(const Arguments& arguments, const db::TunedStore& store,
                                          const std::string& target);

/// What is tuned nearest to one of the problems that --size means.
struct Nearest {
  NamedValues asked;
  db::TunedEntry entry;
  double distance = 0;  // root mean square of log2 of the sizes' ratios
};
/// For each of these problems one of each device, setting and policy that is asked for. Throws
/// Error with near names when there is nothing.
std::vector<Nearest> nearest_entries(const Arguments& arguments, const db::TunedStore& store);

/// Warns of the first of them: a wrong file is wrong at every line.
void warn_of(const std::vector<std::string>& sentences);

/// Warns, when it goes, of the rows that the store could not use.
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

/// Whether the entry has every one of them.
bool has_settings(const db::TunedEntry& entry, const NamedValues& chosen);

/// What the database says of a problem, for a person: where its target is at hand, without settings
/// at their default and without parameters that mean nothing in a configuration. JSON has all.
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

/// `512`, or `M=1 N=4096 K=4096` when the sizes differ.
std::string sizes_text(const NamedValues& sizes);

}  // namespace autotune::cli
