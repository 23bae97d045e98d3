// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/included_text.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>

#include "tuner/hash/hash.hpp"

namespace autotune {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view without_leading_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(kBlank);
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

/// The name in `#include "name"` or `#include <name>`; nullopt for any other line.
std::optional<std::string> included_name(std::string_view line) {
  line = without_leading_blanks(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = without_leading_blanks(line.substr(1));
  if (!line.starts_with("include")) return std::nullopt;
  line = without_leading_blanks(line.substr(7));
  if (line.empty() || (line[0] != '"' && line[0] != '<')) return std::nullopt;
  const auto end = line.find(line[0] == '"' ? '"' : '>', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(1, end - 1));
}

std::vector<std::string> included_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (auto name = included_name(text.substr(0, end))) names.push_back(std::move(*name));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

std::optional<std::string> contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code failed;
  if (!file || !fs::is_regular_file(path, failed)) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

class Collector {
 public:
  explicit Collector(std::span<const fs::path> folders) : folders_(folders) {}

  /// `beside` is where a quoted include is looked for first; empty for a source held in memory.
  void collect(std::string_view text, const fs::path& beside) {
    for (const std::string& name : included_names(text)) {
      if (!beside.empty() && take(beside / name, name)) continue;
      for (const fs::path& folder : folders_) {
        if (take(folder / name, name)) break;
      }
    }
  }

  std::vector<IncludedFile> take_files() { return std::move(files_); }

 private:
  bool take(const fs::path& path, const std::string& name) {
    const auto text = contents(path);
    if (!text) return false;
    if (!seen_.insert(path.lexically_normal()).second) return true;
    files_.push_back({name, path, *text});
    collect(*text, path.parent_path());
    return true;
  }

  std::span<const fs::path> folders_;
  std::set<fs::path> seen_;
  std::vector<IncludedFile> files_;
};

}  // namespace

std::vector<IncludedFile> included_files(std::string_view text, std::span<const fs::path> folders) {
  Collector collector(folders);
  collector.collect(text, {});
  return collector.take_files();
}

std::string included_text(std::string_view text, std::span<const fs::path> folders) {
  std::string all;
  for (const IncludedFile& file : included_files(text, folders)) {
    all += file.name + '\n' + file.text + '\0';
  }
  return all;
}

const std::string& IncludedTexts::of(const std::string& text, std::span<const fs::path> folders) {
  std::string key = hash128(text);
  for (const fs::path& folder : folders) key += '\0' + folder.string();
  const std::lock_guard lock(mutex_);
  const auto [entry, fresh] = known_.try_emplace(std::move(key));
  if (fresh) entry->second = included_text(text, folders);
  return entry->second;
}

}  // namespace autotune
