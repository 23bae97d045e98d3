// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/build_file.hpp"

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

constexpr std::string_view kMark = "autotune-build-";
constexpr std::string_view kVersion = "2";

std::string serialized(const fs::path& path, const Build& build) {
  const std::int64_t binary_bytes =
      build.binary ? static_cast<std::int64_t>(build.binary->size()) : -1;
  std::string body = build.log;
  if (build.binary) body += *build.binary;
  return format("{}{} {} {} {} {}\n", kMark, kVersion, path.filename().string(), hash128(body),
                build.log.size(), binary_bytes) +
         body;
}

}  // namespace

std::optional<Build> read_build(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string mark, key, hash;
  std::int64_t log_bytes = 0, binary_bytes = 0;
  if (!(file >> mark >> key >> hash >> log_bytes >> binary_bytes)) return std::nullopt;
  if (mark != format("{}{}", kMark, kVersion) || key != path.filename()) return std::nullopt;
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
  const std::string bytes = serialized(path, build);
  write_private_file(path, bytes);
  return static_cast<std::int64_t>(bytes.size());
} catch (const std::system_error& error) {
  errno = error.code().value();
  return -1;
}

bool is_build(const fs::path& path) {
  std::string start(kMark.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), static_cast<std::streamsize>(start.size())) && start == kMark;
}

}  // namespace autotune
