// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/readable_files.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace autotune {

namespace fs = std::filesystem;

namespace {

fs::path resolved(const fs::path& path) {
  std::error_code failed;
  const fs::path whole = fs::weakly_canonical(path, failed);
  return failed ? path.lexically_normal() : whole;
}

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
         begins_with(resolved(file), resolved(folder));
}

std::optional<fs::path> first_forbidden(std::span<const fs::path> files,
                                        std::span<const fs::path> folders,
                                        std::span<const fs::path> data) {
  const auto may_read = [&](const fs::path& file) {
    const auto is_it = [&](const fs::path& one) { return resolved(one) == resolved(file); };
    if (std::ranges::any_of(data, is_it)) return false;
    return std::ranges::any_of(folders, [&](const fs::path& folder) {
      return is_below(file, folder) || (is_header(file) && begins_with(file, plain(folder)));
    });
  };
  const auto found = std::ranges::find_if_not(files, may_read);
  return found == files.end() ? std::nullopt : std::optional(*found);
}

}  // namespace autotune
