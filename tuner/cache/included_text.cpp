// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/included_text.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

#include "tuner/cache/directives.hpp"
#include "tuner/cache/preprocessor_options.hpp"
#include "tuner/core/error.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace fs = std::filesystem;

namespace {

/// Most files and folders that are visited below one folder.
constexpr int kMostEntries = 10'000;

std::optional<std::string> contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code failed;
  if (!file || !fs::is_regular_file(path, failed)) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

fs::path whole_path(const fs::path& path) {
  std::error_code failed;
  const fs::path whole = fs::weakly_canonical(path, failed);
  return failed ? path.lexically_normal() : whole;
}

std::string stamp_of(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "";
  return format("{}.{} {}", status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size);
}

/// The headers below a folder, sorted by name. Folders that this user cannot read are skipped:
/// compilers cannot read them either.
std::vector<fs::path> headers_below(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  int entries = 0;
  constexpr auto kSkip = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, kSkip, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (++entries > kMostEntries) {
      throw Error(
          format("an #include names its file by a macro, so that every header below {} "
                 "counts, and there are too many files: write the name itself",
                 folder.string()));
    }
    std::error_code gone;
    if (is_header(at->path()) && at->is_regular_file(gone)) found.push_back(at->path());
  }
  std::ranges::sort(found);
  return found;
}

/// The text of `NAME="header"`.
HeaderName defined_header(std::string_view macro) {
  const auto equals = macro.find('=');
  return equals == std::string_view::npos ? HeaderName{} : header_name(macro.substr(equals + 1));
}

class Collector {
 public:
  Collector(std::span<const fs::path> folders, std::span<const std::string> options)
      : options_(preprocessor_options(options)), folders_(folders.begin(), folders.end()) {
    folders_.insert(folders_.end(), options_.folders.begin(), options_.folders.end());
    for (const std::string& macro : options_.defined) {
      if (HeaderName name = defined_header(macro); !name.name.empty()) defined_.push_back(name);
    }
  }

  Included collect(std::string_view text) {
    follow(text, {});
    for (const std::string& name : options_.headers) find({name, false}, {});
    if (!included_.complete) take_all();
    return std::move(included_);
  }

 private:
  void follow(std::string_view text, const fs::path& beside) {
    const Directives directives = directives_of(text);
    for (const HeaderName& name : directives.plain) find(name, beside);
    for (const HeaderName& name : directives.others) find(name, beside);
    for (const HeaderName& name : directives.next) find_all(name);
    defined_.insert(defined_.end(), directives.defined.begin(), directives.defined.end());
    if (directives.has_computed) included_.complete = false;
  }

  void find(const HeaderName& name, const fs::path& beside) {
    const bool found_beside = !beside.empty() && take(beside / name.name, name.name);
    if (found_beside && !name.angled) return;
    for (const fs::path& folder : folders_) {
      if (take(folder / name.name, name.name)) return;
    }
    included_.others = included_.others || !found_beside;
  }

  void find_all(const HeaderName& name) {
    for (const fs::path& folder : folders_) take(folder / name.name, name.name);
  }

  /// Adds every header that a macro could name.
  void take_all() {
    for (std::size_t i = 0; i < defined_.size(); ++i) {  // grows in the loop
      const HeaderName name = defined_[i];
      find(name, {});
    }
    for (const fs::path& folder : folders_) {
      for (const fs::path& header : headers_below(folder)) {
        take(header, header.lexically_relative(folder).string());
      }
    }
  }

  bool take(const fs::path& path, const std::string& name) {
    if (seen_.contains(path.lexically_normal())) return true;
    std::string stamp = stamp_of(path);
    const auto text = contents(path);
    if (!text) return false;
    seen_.insert(path.lexically_normal());
    included_.files.push_back({name, path, *text, std::move(stamp)});
    follow(*text, path.parent_path());
    return true;
  }

  const PreprocessorOptions options_;
  std::vector<fs::path> folders_;
  std::vector<HeaderName> defined_;
  std::set<fs::path> seen_;
  Included included_;
};

bool has_changed(const Included& included) {
  return std::ranges::any_of(
      included.files, [](const IncludedFile& file) { return stamp_of(file.path) != file.stamp; });
}

}  // namespace

std::string Included::text() const {
  std::string all;
  for (const IncludedFile& file : files) all += file.name + '\n' + file.text + '\0';
  return all;
}

bool Included::covers(const std::optional<std::vector<fs::path>>& read,
                      std::span<const fs::path> folders) const {
  if (!read) return complete;
  std::set<fs::path> ours;
  for (const IncludedFile& file : files) ours.insert(whole_path(file.path));
  return std::ranges::all_of(*read, [&](const fs::path& path) {
    return ours.contains(whole_path(path)) ||
           std::ranges::any_of(folders,
                               [&](const fs::path& folder) { return is_below(path, folder); });
  });
}

Included included(std::string_view text, std::span<const fs::path> folders,
                  std::span<const std::string> options) {
  return Collector(folders, options).collect(text);
}

IncludedTexts::Result IncludedTexts::find(const std::string& text,
                                          std::span<const fs::path> folders,
                                          std::span<const std::string> options, bool check) {
  std::string key = hash128(text);
  for (const fs::path& folder : folders) key += '\0' + folder.string();
  for (const std::string& option : options) key += '\0' + option;
  const std::lock_guard lock(mutex_);
  Result& known = known_[key];
  if (known && !(check && has_changed(known->included))) return known;
  Included files = included(text, folders, options);
  std::string all = files.text();
  known = std::make_shared<const Known>(Known{std::move(files), std::move(all)});
  return known;
}

namespace {

bool begins_with(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first ==
         folder.end();
}

/// Absolute and without a slash at its end.
fs::path plain(const fs::path& folder) {
  std::error_code failed;
  const fs::path whole = fs::absolute(folder, failed).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

bool is_header(const fs::path& path) {
  static constexpr std::array<std::string_view, 12> kEnds = {
      ".h", ".hh", ".hpp", ".hxx", ".cuh", ".cu", ".inc", ".inl", ".ipp", ".tpp", ".def", ".txx"};
  return std::ranges::find(kEnds, path.extension().string()) != kEnds.end();
}

bool is_below(const fs::path& file, const fs::path& folder) {
  std::error_code failed;
  return begins_with(fs::absolute(file, failed).lexically_normal(), plain(folder)) ||
         begins_with(whole_path(file), whole_path(folder));
}

std::optional<fs::path> first_forbidden(std::span<const fs::path> files,
                                        std::span<const fs::path> folders,
                                        std::span<const fs::path> data) {
  const auto may_read = [&](const fs::path& file) {
    const auto is_it = [&](const fs::path& one) { return whole_path(one) == whole_path(file); };
    if (std::ranges::any_of(data, is_it)) return false;
    return std::ranges::any_of(folders, [&](const fs::path& folder) {
      return is_below(file, folder) || (is_header(file) && begins_with(file, plain(folder)));
    });
  };
  const auto found = std::ranges::find_if_not(files, may_read);
  return found == files.end() ? std::nullopt : std::optional(*found);
}

}  // namespace autotune
