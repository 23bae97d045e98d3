// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/build_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "tuner/file/replace_file.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "autotune-build-1";

std::string serialized(const Build& build) {
  const std::int64_t binary_bytes =
      build.binary ? static_cast<std::int64_t>(build.binary->size()) : -1;
  std::string body = build.log;
  if (build.binary) body += *build.binary;
  return format("{} {} {} {}\n", kMagic, hash128(body), build.log.size(), binary_bytes) + body;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Creates a file that only this user can read. Throws std::system_error.
void write_private(const fs::path& path, std::string_view bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool written = file >= 0 && write_all(file, bytes);
  const int why = errno;
  const bool closed = file >= 0 && close(file) == 0;
  if (!written || !closed) throw std::system_error(written ? errno : why, std::generic_category());
}

}  // namespace

std::optional<Build> read_build(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic, hash;
  std::int64_t log_bytes = 0, binary_bytes = 0;
  if (!(file >> magic >> hash >> log_bytes >> binary_bytes) || magic != kMagic) return std::nullopt;
  if (file.get() != '\n') return std::nullopt;
  std::string body{std::istreambuf_iterator<char>(file), {}};
  const std::int64_t expected = log_bytes + std::max<std::int64_t>(binary_bytes, 0);
  if (log_bytes < 0 || binary_bytes < -1) return std::nullopt;
  if (static_cast<std::int64_t>(body.size()) != expected || hash128(body) != hash) {
    return std::nullopt;
  }
  Build build;
  build.log = body.substr(0, static_cast<std::size_t>(log_bytes));
  if (binary_bytes >= 0) {
    body.erase(0, static_cast<std::size_t>(log_bytes));
    build.binary = std::make_shared<const std::string>(std::move(body));
  }
  return build;
}

std::int64_t write_build(const fs::path& path, const Build& build) try {
  const std::string bytes = serialized(build);
  replace_file(path, [&](const fs::path& aside) { write_private(aside, bytes); });
  return static_cast<std::int64_t>(bytes.size());
} catch (const std::system_error& error) {
  errno = error.code().value();
  return -1;
}

}  // namespace autotune
