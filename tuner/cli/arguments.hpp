// SPDX-License-Identifier: Apache-2.0
// Verbs, the arguments of one, parsed against its options, and its output files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/target.hpp"

namespace autotune::cli {

// A verb of the command line: a row of the table of verbs, with its options as data.

class Arguments;

/// One option. `value` is the placeholder of its value (`FILE`), empty for a flag. Help shows
/// `help` and a non-empty default. Shells complete the value by its placeholder: FILE, T (targets),
/// D (devices), GPU, STRATEGY or VERB, or by `words`.
struct Option {
  std::string_view name;
  std::string_view value;
  std::string_view help;
  std::string_view default_value = {};
  bool repeatable = false;
  /// The values, with spaces between, if there are few. `like=cublas` stands for others, too.
  std::string_view words = {};
};

/// One verb: `run` gets the parsed arguments and returns the exit status.
struct Verb {
  std::string_view name;
  std::string_view synopsis;  // after `autotune NAME`: `--target T --sizes S`
  std::string_view summary;   // one line, for the list of verbs
  std::string_view details;   // paragraphs of Markdown for docs/cli.md; may be empty
  std::vector<Option> options;
  /// Placeholder of positional arguments: `FILE` or `NAME=VALUE…`; empty if there are none.
  std::string_view positional;
  /// What the first of these may be, with spaces between, if there are few.
  std::string_view words = {};
  int (*run)(const Arguments& arguments);
};

// Each has a source of its own.
extern const Verb kCheck, kCompare, kConvert, kCover, kDb, kDoctor, kExplain, kImport, kInit,
    kJudge, kList, kLock, kNewTarget, kOccupancy, kQuery, kReplay, kReport, kRun, kTune, kWarm,
    kWatch;

/// Every verb; `tune`, the default, first.
std::span<const Verb* const> verbs();
/// Throws UsageError with near names.
const Verb& verb_called(std::string_view name);

/// Exit status, as documented in docs/cli.md.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kNoCorrectConfiguration = 3;

class Arguments {
 public:
  /// Throws UsageError for an unknown option (with near names), a missing or repeated value, a
  /// value or a positional argument that is none of its `words`, or an unexpected positional
  /// argument.
  Arguments(const Verb& verb, const std::vector<std::string>& words);

  bool has(std::string_view option) const;
  /// The given value, else the option's default, else nullopt.
  std::optional<std::string> find(std::string_view option) const;
  /// Like find(), but throws UsageError that names the option if there is no value.
  std::string text(std::string_view option) const;
  /// Throws UsageError unless the value is an integer in [low, high].
  std::int64_t integer(std::string_view option, std::int64_t low, std::int64_t high) const;
  /// Every value of a repeatable option.
  std::vector<std::string> all(std::string_view option) const;
  const std::vector<std::string>& positional() const { return positional_; }
  const Verb& verb() const { return verb_; }

 private:
  const Verb& verb_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> positional_;
};

// Common arguments of several verbs: problems, settings, the database.

/// Items of the form `NAME=VALUE`, given with `option`, each name once. Throws UsageError.
NamedValues named_values_in(const std::vector<std::string>& items, std::string_view option,
                            std::string_view example);

/// The only positional argument. Throws UsageError with `otherwise` if there is none, or several.
const std::string& only_word(const Arguments& arguments, const char* otherwise);

/// The settings of `--set NAME=VALUE`. Throws UsageError.
NamedValues settings_of(const Arguments& arguments);

/// The parameters of `--fix NAME=VALUE`. Throws UsageError.
NamedValues fixed_of(const Arguments& arguments);

/// Whether any size of the target has more than one value.
bool needs_sizes(const Target& target);

/// Sizes that the target offers and its constraints allow, as text: the nearest to this for each,
/// or without it to 512, of four 64, of more 16; less where buffers would need more than 256 MiB.
std::string example_sizes(const Target& target, std::int64_t each = 0);
/// Whether buffers of these sizes need at most that.
bool fits_an_example(const Target& target, const NamedValues& sizes);

/// Whether an option takes free sizes, which belong to no result.
enum class FreeSizes : std::uint8_t { refused, taken };

/// The sizes of each problem, with the default of those that are left out, then the free sizes that
/// are given. A fixed size may always be left out. Throws UsageError.
std::vector<NamedValues> sizes_in(std::string_view text, const Target& target,
                                  std::string_view option = "--sizes",
                                  FreeSizes free = FreeSizes::refused);

/// `--sizes` and `--set` for a target. Throws UsageError.
std::vector<Problem> problems_of(const Arguments& arguments, const Target& target);

/// The only problem of this option and `--set`; without the option, of example_sizes(). Throws
/// UsageError.
Problem problem_of(const Arguments& arguments, const Target& target, std::string_view option);

/// `--db`, else db::default_store_path().
std::filesystem::path database_path(const Arguments& arguments);

// Output files of --output.

/// Whether the file is an SQLite database. Only regular files are read.
bool is_database(const std::filesystem::path& file);

/// Throws Error if there is such a file.
void refuse_existing(const std::filesystem::path& file);

/// As write_file(). Throws UsageError if the file is a database.
void write_output(const std::filesystem::path& file,
                  const std::function<void(std::ostream& stream)>& write);
/// The same; to stdout without a file.
void write_result(const std::optional<std::string>& file,
                  const std::function<void(std::ostream& stream)>& write);

}  // namespace autotune::cli
