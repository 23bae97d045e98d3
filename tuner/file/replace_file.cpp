// SPDX-License-Identifier: Apache-2.0
#include "tuner/file/replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAside = ".aside";
constexpr int kMostLinks = 40;

std::system_error failure(const fs::path& file, int why) {
  return {why == 0 ? EIO : why, std::generic_category(),
          format("{}: cannot be written", file.string())};
}

/// The path after following links, whether or not a file exists there. Links in /proc, to which
/// /dev/stdout leads, are open descriptors, not names.
fs::path end_of_links(fs::path file) {
  std::error_code failed;
  for (int i = 0; fs::is_symlink(file, failed) && !file.string().starts_with("/proc/"); ++i) {
    if (i == kMostLinks) throw failure(file, ELOOP);
    file = file.parent_path() / fs::read_symlink(file, failed);
    if (failed) throw failure(file, failed.value());
  }
  return file;
}

void expect_folder(const fs::path& target, const fs::path& file) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
  struct stat found {};
  if (stat(folder.c_str(), &found) != 0) throw failure(file, errno);
  if (!S_ISDIR(found.st_mode)) throw failure(file, ENOTDIR);
  if (access(folder.c_str(), W_OK | X_OK) != 0) throw failure(file, errno);
}

fs::path aside_of(const fs::path& file) {
  static std::atomic<unsigned> counter{0};
  return format("{}.{}.{}{}", file.string(), getpid(), counter++, kAside);
}

void rename_to(const fs::path& aside, const fs::path& file, const fs::file_status& old) {
  std::error_code failed;
  if (fs::exists(old)) fs::permissions(aside, old.permissions(), failed);
  fs::rename(aside, file, failed);
  if (failed) throw failure(file, failed.value());
}

/// fsync(); devices and pipes do not support it.
void flush_to_disk(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return;
  const bool failed = fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS;
  const int why = errno;
  close(descriptor);
  if (failed) throw failure(file, why);
}

void write_stream(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream stream(path, std::ios::binary);
  try {
    if (stream) write(stream);
  } catch (...) {  // the stream's failure comes first: it has the reason
    if (stream) throw;
  }
  if (stream) stream.close();
  if (!stream) throw failure(path, errno);
}

}  // namespace

void replace_file(const fs::path& file, const std::function<void(const fs::path&)>& write) {
  const fs::path target = end_of_links(file);
  std::error_code failed;
  const fs::file_status old = fs::status(target, failed);
  if (fs::is_directory(old)) throw failure(file, EISDIR);
  if (fs::exists(old) && access(target.c_str(), W_OK) != 0) throw failure(file, errno);
  const bool is_name = !fs::is_symlink(target, failed);
  if (fs::exists(old) && !(fs::is_regular_file(old) && is_name)) return write(target);
  expect_folder(target, file);
  const fs::path aside = aside_of(target);
  try {
    write(aside);
    rename_to(aside, target, old);
  } catch (...) {
    fs::remove(aside, failed);
    throw;
  }
}

void write_file(const fs::path& file, const std::function<void(std::ostream&)>& write) {
  replace_file(file, [&](const fs::path& path) {
    try {
      write_stream(path, write);
      flush_to_disk(path);
    } catch (const std::system_error& error) {
      throw failure(file, error.code().value());  // not the temporary file's name
    }
  });
}

bool is_aside(const fs::path& path) { return path.extension() == kAside; }

}  // namespace autotune
