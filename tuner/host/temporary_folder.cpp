// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/process.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "tuner/core/error.hpp"
#include "tuner/text/environment.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "autotune-tmp-";

fs::path base_folder() {
  const std::string chosen = environment_variable("TMPDIR");
  return chosen.empty() ? "/tmp" : chosen;
}

/// Again while it is there: another thread may be removing it too, or a process that ends may still
/// write into it.
void remove_tree(const fs::path& folder) {
  std::error_code failed;
  for (int tries = 0; tries < 100; ++tries) {
    fs::remove_all(folder, failed);
    if (!fs::exists(folder, failed)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// A descriptor that holds the folder's lock. -1 if another process is removing the folder, which
/// it took for abandoned.
int locked(const fs::path& folder, int how) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return -1;
  struct stat status {};
  const bool there = flock(file, how) == 0 && fstat(file, &status) == 0 && status.st_nlink > 0 &&
                     status.st_uid == geteuid();
  if (there) return file;
  close(file);
  return -1;
}

struct Registry {
  std::mutex mutex;
  std::set<fs::path> folders;
  bool is_closed = false;  // the process ends
};

/// Never destroyed: threads may end after main().
Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const std::lock_guard lock(registry().mutex);
  while (registry().is_closed) pause();
  do {
    std::string name = (base_folder() / kPrefix).string() + "XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      throw Error(format("no temporary folder could be made as {}: {} (set TMPDIR)", name,
                         std::strerror(errno)));
    }
    path_ = name;
    lock_ = locked(path_, LOCK_EX);
  } while (lock_ < 0 && !fs::exists(path_));
  registry().folders.insert(path_);
}

TemporaryFolder::~TemporaryFolder() {
  remove_tree(path_);
  if (lock_ >= 0) close(lock_);
  const std::lock_guard lock(registry().mutex);
  registry().folders.erase(path_);
}

void write_temporary(const fs::path& file, std::string_view bytes) {
  if ((std::ofstream(file, std::ios::binary) << bytes).flush()) return;
  throw Error(format("{} cannot be written (is the disk full? set TMPDIR)", file.string()));
}

void remove_abandoned_folders() {
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(base_folder(), failed)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const int lock = locked(entry.path(), LOCK_EX | LOCK_NB);
    if (lock < 0) continue;
    remove_tree(entry.path());
    close(lock);
  }
}

void remove_own_folders() {
  const std::lock_guard lock(registry().mutex);
  registry().is_closed = true;
  for (const fs::path& folder : registry().folders) remove_tree(folder);
}

}  // namespace autotune
