// SPDX-License-Identifier: Apache-2.0
// autotune doctor: the cache and the databases.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "db/store.hpp"
#include "tuner/cli/doctor.hpp"
#include "tuner/file/file_system.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLittleSpace = std::uintmax_t{1} << 30;

/// The folder, or the nearest one above it that exists.
fs::path existing(fs::path folder) {
  std::error_code none;
  folder = fs::absolute(folder, none);
  while (!fs::exists(folder, none) && folder.has_parent_path() && folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

/// The errno of creating and writing a file in this folder, or in the nearest existing one above
/// it; 0 if that works. access() would not do: it allows root everything. Leaves nothing behind.
int why_not_writable(const fs::path& folder) {
  std::string name = existing(folder) / "autotune-doctor-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return errno;
  const int failed = write(file, "x", 1) == 1 ? 0 : errno;
  close(file);
  unlink(name.c_str());
  return failed;
}

std::int64_t bytes_below(const fs::path& folder) {
  std::int64_t bytes = 0;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code gone;
    const auto size = at->is_regular_file(gone) ? at->file_size(gone) : 0;
    if (!gone) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

}  // namespace

Finding cache_finding(const fs::path& folder) {
  const std::string advice = "set AUTOTUNE_CACHE to a folder on a local disk";
  if (folder.empty()) return {"cache", Health::problem, "HOME is not set", advice};
  if (const int failed = why_not_writable(folder)) {
    return {"cache", Health::problem,
            format("{} cannot be written: {}", folder.string(), std::strerror(failed)), advice};
  }
  std::error_code failed;
  const fs::space_info space = fs::space(existing(folder), failed);
  const std::string state =
      format("{}: {}, {} free", folder.string(), bytes_text(bytes_below(folder)),
             failed ? "unknown" : bytes_text(static_cast<std::int64_t>(space.available)));
  if (!failed && space.available < kLittleSpace) {
    return {"cache", Health::note, state, "free some space: the cache takes up to 2 GiB"};
  }
  const std::string_view network = shared_file_system(folder);
  if (!network.empty()) return {"cache", Health::note, format("{}, on {}", state, network), advice};
  return {"cache", Health::ok, state};
}

Finding database_finding(const std::string& what, const fs::path& file) try {
  std::error_code none;
  if (!fs::exists(file, none)) {
    const int failed = why_not_writable(fs::absolute(file).parent_path());
    if (failed == 0) {
      return {what, Health::ok, format("the first tuning will create {}", file.string())};
    }
    return {what, Health::problem,
            format("{} cannot be created: {}", file.string(), std::strerror(failed)),
            "set AUTOTUNE_DB to a file in a folder that you may write"};
  }
  const db::CheckReport report = db::TunedStore(file, db::Mode::read_only).check();
  if (!report.damage.empty()) {
    return {what, Health::problem,
            format("{}: {} faults in {} rows", file.string(), report.damage.size(), report.rows),
            "import it into a new database to keep the good rows: autotune db check says more"};
  }
  const std::string_view network = shared_file_system(file);
  if (!network.empty()) {
    return {what, Health::note, format("{}, on {}", file.string(), network),
            "locks may not hold there: keep it on a local disk, and merge"};
  }
  return {what, Health::ok,
          format("{}: {} rows, all as they were stored", file.string(), report.rows)};
} catch (const std::exception& error) {
  return {what, Health::problem, error.what(), "AUTOTUNE_DB names another one"};
}

}  // namespace autotune::cli
