// SPDX-License-Identifier: Apache-2.0
// A verb of the command line: a row of the table of verbs, with its options as data.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace autotune::cli {

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

/// Every verb; `tune`, the default, first.
std::span<const Verb* const> verbs();
/// Throws UsageError with near names.
const Verb& verb_called(std::string_view name);

/// Exit status, as documented in docs/cli.md.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kNoCorrectConfiguration = 3;

}  // namespace autotune::cli
