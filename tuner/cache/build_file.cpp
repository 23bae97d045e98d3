// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/build_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>

#include "tuner/hash/hash.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "autotune-build-1";
constexpr std::string_view kAside = ".aside";

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

std::int64_t write_build(const fs::path& path, const Build& build) {
  static std::atomic<unsigned> counter{0};
  const std::string bytes = serialized(build);
  const fs::path aside = format("{}.{}.{}{}", path.string(), getpid(), counter++, kAside);
  const int file = open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  const bool written = write_all(file, bytes);
  if ((close(file) == 0) & written && rename(aside.c_str(), path.c_str()) == 0) {
    return static_cast<std::int64_t>(bytes.size());
  }
  const int why = errno;
  unlink(aside.c_str());
  errno = why;
  return -1;
}

bool is_aside(const fs::path& path) { return path.extension() == kAside; }

}  // namespace autotune
