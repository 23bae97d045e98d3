// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>

#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Limits of the compressed and the uncompressed size. The largest known file has 0.2 GiB, and
/// caches are packed to a thirtieth.
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 30, kSmallFile = std::uint64_t{16} << 20;
constexpr std::uint64_t kMostTimes = 200;

std::uint64_t largest_text(const std::filesystem::path& file) {
  std::error_code unknown;
  const std::uint64_t bytes = std::filesystem::file_size(file, unknown);
  return unknown ? kSmallFile : std::clamp(bytes * kMostTimes, kSmallFile, kLargestFile);
}

}  // namespace

std::string read_maybe_gzip(const std::filesystem::path& file) {
  if (const std::string why = why_unreadable(file, kLargestFile); !why.empty()) {
    throw Error(format("{}: cannot be read: {}; name one file", file.string(), why));
  }
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> stream(gzopen(file.c_str(), "rb"), gzclose);
  if (!stream) throw Error(format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  const std::uint64_t most = largest_text(file);
  std::string text;
  std::array<char, 1 << 16> piece;
  while (true) {
    const int count = gzread(stream.get(), piece.data(), piece.size());
    if (count > 0) {
      text.append(piece.data(), static_cast<std::size_t>(count));
      if (text.size() <= most) continue;
      throw Error(
          format("{}: has more than {} when unpacked, the most that is read of a file of "
                 "its size",
                 file.string(), bytes_text(static_cast<std::int64_t>(most))));
    }
    int status = Z_OK;
    const char* const what = gzerror(stream.get(), &status);
    if (status != Z_OK && status != Z_STREAM_END) {
      std::string_view why = what;  // zlib often puts the file name first
      if (why.starts_with(file.string() + ": ")) why.remove_prefix(file.string().size() + 2);
      throw Error(format("{}: cannot be unpacked: {}; is it complete?", file.string(), why));
    }
    return text;
  }
}

}  // namespace autotune
