// SPDX-License-Identifier: Apache-2.0
// The project's own files that a source includes; they are part of a build's key.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

/// An included file, with the name in the `#include`.
struct IncludedFile {
  std::string name;
  std::filesystem::path path;
  std::string text;
  std::string stamp = {};  // time of the last change and size, from before it was read
};

/// The files that a source may read, as far as known without a compiler.
struct Included {
  std::vector<IncludedFile> files;
  bool complete = true;  // false if a macro names a header
  bool others = false;   // whether it names headers that are not in the folders

  /// Names and contents.
  std::string text() const;
  /// Whether each file that the compiler read is in this list or below one of the folders. If the
  /// compiler does not list its files, whether this list is complete.
  bool covers(const std::optional<std::vector<std::filesystem::path>>& read,
              std::span<const std::filesystem::path> folders) const;
};

/// Every file that `text` includes, directly or not. Files are searched in `folders`, then in those
/// of `options`. Files that are not found there (toolkit headers) are left out; the toolkit's
/// version is in the key already. All conditions count as true. If a macro names a header, takes
/// every header name in macros and every header below the folders; throws Error if these are too
/// many.
Included included(std::string_view text, std::span<const std::filesystem::path> folders,
                  std::span<const std::string> options = {});

/// Caches the results of included(). Thread-safe.
class IncludedTexts {
 public:
  /// The files of a text, and their text().
  struct Known {
    Included included;
    std::string text;
  };
  using Result = std::shared_ptr<const Known>;

  /// Reads the files of each text once. For guesses only, because files may change.
  Result of(const std::string& text, std::span<const std::filesystem::path> folders,
            std::span<const std::string> options) {
    return find(text, folders, options, false);
  }
  /// Reads them again if the time or the size of one has changed.
  Result unchanged(const std::string& text, std::span<const std::filesystem::path> folders,
                   std::span<const std::string> options) {
    return find(text, folders, options, true);
  }

 private:
  Result find(const std::string& text, std::span<const std::filesystem::path> folders,
              std::span<const std::string> options, bool check);

  std::mutex mutex_;
  std::map<std::string, Result> known_;  // by a key of text, folders and options
};

// Which files a source may read while it is compiled. Others could hold results.

/// Whether the file's extension is that of a header or source.
bool is_header(const std::filesystem::path& path);

/// Whether the file lies below the folder; links do not matter.
bool is_below(const std::filesystem::path& file, const std::filesystem::path& folder);

/// The first of the files, as a compiler names them, that a source must not read. It may read what
/// lies below `folders`, and headers that it reaches from there by `../`. `data` is what it must
/// not read anywhere: inputs and results.
std::optional<std::filesystem::path> first_forbidden(std::span<const std::filesystem::path> files,
                                                     std::span<const std::filesystem::path> folders,
                                                     std::span<const std::filesystem::path> data);

}  // namespace autotune
