// SPDX-License-Identifier: Apache-2.0
// Whole files, of a bounded size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace autotune {

/// Why a file cannot be read as a whole: `it is a pipe`, `it has 2.000 GiB, the most are …`. Empty
/// for a regular file of at most `most` bytes. Opens nothing: a pipe would wait for a writer.
std::string why_unreadable(const std::filesystem::path& file, std::uint64_t most);

/// A file's content, without a byte order mark of UTF-8. If the file is in UTF-16, is
/// why_unreadable() or cannot be opened, `refusal` has the reason.
struct FileText {
  std::string text;
  std::string refusal;
};
FileText read_text_file(const std::filesystem::path& file, std::uint64_t most);

}  // namespace autotune
