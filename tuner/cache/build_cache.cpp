// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/build_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

#include "tuner/core/deadline.hpp"
#include "tuner/core/device.hpp"
#include "tuner/file/replace_file.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/text/environment.hpp"
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

namespace fs = std::filesystem;

namespace {

/// Why others than root and this user may have written this, or why that is unknown; else "".
std::string distrust_of(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::strerror(errno);
  if (status.st_uid != geteuid() && status.st_uid != 0) return "it belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write to it";
  return "";
}

bool may_access(const fs::path& folder, int how) {
  return faccessat(AT_FDCWD, folder.c_str(), how, AT_EACCESS) == 0;
}

/// Creates the folder with access for its owner only. Returns why it cannot be read, or "".
std::string claim_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder.parent_path(), failed);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return std::strerror(errno);
  if (!fs::is_directory(folder, failed)) return "it is not a folder";
  if (std::string why = distrust_of(folder); !why.empty()) return why;
  return may_access(folder, X_OK) ? "" : std::strerror(errno);
}

/// Files are spread over subfolders, so that no folder holds a hundred thousand.
fs::path path_of(const fs::path& folder, const std::string& key) {
  return folder / key.substr(0, 2) / key;
}

/// Whether this is a path of path_of(), or of the file that is renamed to it. The folder may hold
/// files of its user.
bool has_own_name(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string_view key = std::string_view(name).substr(0, name.find('.'));
  return (key == name || is_aside(path)) && key.substr(0, 2) == path.parent_path().filename() &&
         key.find_first_not_of("0123456789abcdef") == key.npos;
}

/// Calls `use` with each regular file of an own name. Follows no links.
template <class Use>
void each_own_file(const fs::path& folder, Use&& use) {
  std::error_code failed, ignored;
  const auto is = [&](const fs::directory_entry& entry, fs::file_type type) {
    return entry.symlink_status(ignored).type() == type;
  };
  for (fs::directory_iterator part(folder, failed), end; part != end; part.increment(failed)) {
    if (!is(*part, fs::file_type::directory)) continue;
    for (fs::directory_iterator file(part->path(), failed); file != end; file.increment(failed)) {
      if (is(*file, fs::file_type::regular) && has_own_name(file->path())) use(*file);
    }
  }
}

}  // namespace

fs::path BuildCache::default_folder() {
  if (const auto own = environment_variable("AUTOTUNE_CACHE"); !own.empty()) return own;
  if (const auto base = environment_variable("XDG_CACHE_HOME"); !base.empty()) {
    return fs::path(base) / "autotune";
  }
  if (const auto home = environment_variable("HOME"); !home.empty()) {
    return fs::path(home) / ".cache" / "autotune";
  }
  return {};
}

BuildCache::BuildCache(fs::path folder, std::int64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {
  if (folder_.empty()) {
    restrict_to(Use::nothing, "it has no name (set AUTOTUNE_CACHE)");
  } else if (const std::string wrong = claim_folder(folder_); !wrong.empty()) {
    restrict_to(Use::nothing, wrong);
  } else if (!may_access(folder_, W_OK)) {
    restrict_to(Use::reading, std::strerror(errno));
  }
}

CompiledKernel BuildCache::compiled(const std::string& key, const std::function<Build()>& make) {
  CompiledKernel kernel;
  kernel.key = key;
  const Build build = find_or_make(key, [&] {
    const Stopwatch watch(kernel.seconds);
    return make();
  });
  kernel.cached = build.cached;
  kernel.log = build.log;
  kernel.binary = build.binary;
  if (!build.binary) kernel.outcome = build.late ? Outcome::timeout : Outcome::compile_error;
  return kernel;
}

Build BuildCache::find_or_make(const std::string& key, const std::function<Build()>& make) {
  std::promise<Build> promise;
  std::shared_future<Build> other;
  {
    const std::lock_guard lock(mutex_);
    const auto [entry, mine] = in_flight_.try_emplace(key);
    if (mine) {
      entry->second = promise.get_future().share();
    } else {
      other = entry->second;
    }
  }
  if (other.valid()) {
    Build build = other.get();
    build.cached = true;
    return build;
  }
  const auto done = [&] {
    const std::lock_guard lock(mutex_);
    in_flight_.erase(key);
  };
  try {
    std::optional<Build> build = find_in_memory(key);
    if (!build) build = find(key);
    if (!build) {
      build = make();
      build->cached = false;
      if (build->keep) store(key, *build);
    }
    if (build->keep) keep_in_memory(key, *build);
    promise.set_value(*build);
    done();
    return *build;
  } catch (...) {
    promise.set_exception(std::current_exception());
    done();
    throw;
  }
}

std::optional<Build> BuildCache::find(const std::string& key) {
  if (!may(Use::reading)) return std::nullopt;
  const fs::path path = path_of(folder_, key);
  if (!distrust_of(path.parent_path()).empty() || !distrust_of(path).empty()) return std::nullopt;
  std::optional<Build> build = read_build(path);
  if (!build) return std::nullopt;
  build->cached = true;
  // The time of last use is what eviction goes by.
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return build;
}

bool BuildCache::contains(const std::string& key) const {
  return may(Use::reading) && access(path_of(folder_, key).c_str(), F_OK) == 0;
}

void BuildCache::keep_in_memory(const std::string& key, const Build& build) {
  const std::lock_guard lock(mutex_);
  std::erase_if(in_use_, [](const auto& one) { return one.second.binary.expired(); });
  if (build.binary) in_use_.insert_or_assign(key, InUse{build.binary, build.log});
}

std::optional<Build> BuildCache::find_in_memory(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = in_use_.find(key);
  Build build;
  if (found == in_use_.end()) return std::nullopt;
  build.binary = found->second.binary.lock();
  if (!build.binary) return std::nullopt;
  build.log = found->second.log;
  build.cached = true;
  return build;
}

void BuildCache::store(const std::string& key, const Build& build) {
  if (!may(Use::storing)) return;
  const fs::path path = path_of(folder_, key);
  mkdir(folder_.c_str(), 0700);  // it may have been deleted since
  mkdir(path.parent_path().c_str(), 0700);
  const std::int64_t written = write_build(path, build);
  if (written < 0) {
    restrict_to(Use::reading, std::strerror(errno));
    return;
  }
  const std::lock_guard lock(mutex_);
  if (stored_bytes_ < 0) {
    evict_down_to(most_bytes_);
  } else if ((stored_bytes_ += written) > most_bytes_) {
    evict_down_to(most_bytes_ / 10 * 8);
  }
}

/// Counts the stored bytes. Above the cap, deletes the builds unused for longest. Name and first
/// bytes of a file say that it is a build.
void BuildCache::evict_down_to(std::int64_t bytes) {
  struct Found {
    fs::file_time_type used;
    std::int64_t size;
    fs::path path;
  };
  std::vector<Found> files;
  stored_bytes_ = 0;
  std::error_code failed;
  const auto abandoned = fs::file_time_type::clock::now() - std::chrono::hours(1);
  each_own_file(folder_, [&](const fs::directory_entry& file) {
    std::error_code gone;  // another process may have deleted it
    Found found{file.last_write_time(gone), 0, file.path()};
    if (gone) return;
    if (is_aside(found.path)) {
      if (found.used < abandoned) fs::remove(found.path, gone);
      return;
    }
    found.size = static_cast<std::int64_t>(file.file_size(gone));
    if (gone) return;
    stored_bytes_ += found.size;
    files.push_back(std::move(found));
  });
  if (stored_bytes_ <= bytes) return;
  std::sort(files.begin(), files.end(),
            [](const Found& a, const Found& b) { return a.used < b.used; });
  for (const Found& file : files) {
    if (stored_bytes_ <= bytes) break;
    if (!is_build(file.path) || fs::remove(file.path, failed)) stored_bytes_ -= file.size;
  }
}

std::string BuildCache::warning() const {
  const std::lock_guard lock(mutex_);
  return warning_;
}

bool BuildCache::may(Use use) const {
  const std::lock_guard lock(mutex_);
  return use <= use_;
}

void BuildCache::restrict_to(Use use, const std::string& why) {
  const std::lock_guard lock(mutex_);
  use_ = use;
  warning_ = format("compiled kernels are not kept: the cache folder {} {}: {}", folder_.string(),
                    use == Use::nothing ? "cannot be used" : "can only be read", why);
}

}  // namespace autotune
