// SPDX-License-Identifier: Apache-2.0
// The project's own files that a source includes: part of what a build is keyed by.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
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

/// As included_text(), one by one.
std::vector<IncludedFile> included_files(std::string_view text,
                                         std::span<const std::filesystem::path> folders);

/// Names and contents of every file that `text` includes, directly or not, as found in `folders`
/// in their order; what is not found there (a toolkit's headers) is left out, its version being in
/// the key already. Conditions are not evaluated, and `#include MACRO` is not followed.
std::string included_text(std::string_view text, std::span<const std::filesystem::path> folders);

/// included_text() that reads the files of each text once: for guesses, since files may change.
/// Any number of threads.
class IncludedTexts {
 public:
  const std::string& of(const std::string& text, std::span<const std::filesystem::path> folders);

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> known_;  // by what identifies text and folders
};

}  // namespace autotune
