// SPDX-License-Identifier: Apache-2.0
// What compilers made, kept on disk by content address: cubins and shared objects.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace autotune {

/// What a compiler made of one key.
struct Build {
  std::shared_ptr<const std::string> binary;  // null when it refused the source
  std::string log;                            // the compiler's own words
  bool keep = true;     // false: not for the disk, since another time it may end otherwise
  bool cached = false;  // set by BuildCache: nothing was compiled for this call
  bool late = false;    // it ran out of time
  std::optional<std::vector<std::filesystem::path>> read = {};  // by the compiler, where it tells
};

/// A folder of builds, mode 0700, shared by any number of threads and processes. Files are written
/// aside and renamed in, carry their own hash, and may be deleted at any time. Where the folder
/// cannot be used everything still works, only nothing is kept: warning() then says why.
class BuildCache {
 public:
  /// $AUTOTUNE_CACHE, else $XDG_CACHE_HOME/autotune, else $HOME/.cache/autotune; empty when none
  /// of them is set.
  static std::filesystem::path default_folder();

  static constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;

  /// An empty folder means memory only. Above `most_bytes` the builds unused for longest go.
  explicit BuildCache(std::filesystem::path folder, std::int64_t most_bytes = kMostBytes);
  BuildCache(const BuildCache&) = delete;
  BuildCache& operator=(const BuildCache&) = delete;

  /// The build under `key` (hexadecimal digits), made by `make` where there is none. Threads that
  /// ask for one key at the same time make it once. What `make` throws reaches all of them.
  Build find_or_make(const std::string& key, const std::function<Build()>& make);

  /// The build under `key` if it is on disk and whole.
  std::optional<Build> find(const std::string& key);

  /// Whether there is a file under `key`, whole or not: no more than a look at the folder.
  bool contains(const std::string& key) const;

  /// One sentence when the folder cannot be used; empty otherwise.
  std::string warning() const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  void store(const std::string& key, const Build& build);
  void evict_down_to(std::int64_t bytes);
  void give_up(const std::string& why);
  bool usable() const;

  const std::filesystem::path folder_;
  const std::int64_t most_bytes_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_future<Build>> in_flight_;
  std::int64_t stored_bytes_ = -1;  // on disk, as last counted; -1 before the first count
  std::string warning_;
};

}  // namespace autotune
