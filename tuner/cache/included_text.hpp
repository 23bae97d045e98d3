// SPDX-License-Identifier: Apache-2.0
// The project's own files that a source includes: part of what a build is keyed by.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

/// A file that a source includes, under the name that it is included by.
struct IncludedFile {
  std::string name;
  std::filesystem::path path;
  std::string text;
};

/// What a source may read of files, as far as that can be told without a compiler.
struct Included {
  std::vector<IncludedFile> files;
  bool complete = true;  // false where a macro names a header

  /// Names and contents.
  std::string text() const;
  /// Whether each file that a compiler read is among ours, or below one of the folders; where it
  /// does not say what it read, whether we know.
  bool covers(const std::optional<std::vector<std::filesystem::path>>& read,
              std::span<const std::filesystem::path> folders) const;
};

/// Every file that `text` includes, directly or not, as found in `folders` in their order, then in
/// those of the `options`; what is not found there (a toolkit's headers) is left out, its version
/// being in the key already. Conditions count as true. Where a macro names a header, all that
/// macros are defined as are taken, and every header below the folders: throws Error when these are
/// too many.
Included included(std::string_view text, std::span<const std::filesystem::path> folders,
                  std::span<const std::string> options = {});

/// included() that reads the files of each text once: for guesses, since files may change. Any
/// number of threads.
class IncludedTexts {
 public:
  const std::string& of(const std::string& text, std::span<const std::filesystem::path> folders,
                        std::span<const std::string> options);

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> known_;  // by what identifies text, folders and options
};

}  // namespace autotune
