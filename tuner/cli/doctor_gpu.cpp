// SPDX-License-Identifier: Apache-2.0
// autotune doctor: the toolkit, the driver and the GPUs.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "db/store.hpp"
#include "tuner/cli/doctor.hpp"
#include "tuner/file/file_system.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string version_text(int version) {
  return format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

Finding nvrtc_finding(const Toolkit& toolkit) {
  if (!toolkit.built) {
    return {"toolkit", Health::note, "this autotune was built without CUDA",
            "install CUDA 12.8 or later and build again, to tune for GPUs"};
  }
  if (toolkit.nvrtc.empty()) {
    if (toolkit.nvrtc_folder.empty()) {
      return {"toolkit", Health::problem, "NVRTC is not found",
              "install the CUDA toolkit, or set LD_LIBRARY_PATH to the folder of libnvrtc.so"};
    }
    return {"toolkit", Health::problem, format("NVRTC in {} does not work", toolkit.nvrtc_folder),
            "install the CUDA toolkit again"};
  }
  return {"toolkit", Health::ok, format("NVRTC {} in {}", toolkit.nvrtc, toolkit.nvrtc_folder)};
}

Finding headers_finding(const Toolkit& toolkit) {
  if (toolkit.headers.empty()) {
    return {"headers", Health::note, "cuda_fp16.h is not found",
            "set CUDA_HOME to the toolkit's folder; kernels with 16-bit types need it"};
  }
  return {"headers", Health::ok, toolkit.headers.front().string()};
}

/// /dev/nvidia0, /dev/nvidia1, …
std::vector<fs::path> device_nodes(const fs::path& root) {
  std::vector<fs::path> nodes;
  std::error_code failed;
  for (fs::directory_iterator at(root / "dev", failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::string name = at->path().filename().string();
    const bool numbered =
        name.starts_with("nvidia") && name.size() > 6 &&
        std::ranges::all_of(name.substr(6), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (numbered) nodes.push_back(at->path());
  }
  std::ranges::sort(nodes);
  return nodes;
}

std::string driver_version(const fs::path& root) {
  std::string version = text_of(root / "sys/module/nvidia/version");
  std::erase(version, '\n');
  return version;
}

Finding driver_finding(const Toolkit& toolkit, const fs::path& root, bool has_nodes) {
  const std::string version = driver_version(root);
  if (version.empty() && toolkit.driver == 0) {
    if (!has_nodes) {
      return {"driver", Health::note, "there is none, and no NVIDIA GPU",
              "use --device host, or --device model:h200 to predict times"};
    }
    return {"driver", Health::problem, "there are GPUs, but no driver answers",
            "install NVIDIA's driver; in a container, start it with --gpus all"};
  }
  const std::string state = format("{}, {}", version.empty() ? "of unknown version" : version,
                                   version_text(toolkit.driver));
  if (toolkit.built && toolkit.driver / 1000 < toolkit.runtime / 1000) {
    return {"driver", Health::problem,
            format("{}; this autotune needs {}", state, version_text(toolkit.runtime)),
            "install a newer driver"};
  }
  return {"driver", Health::ok, state};
}

/// Whether this process may open every node that CUDA opens.
Finding nodes_finding(const fs::path& root, std::vector<fs::path> nodes) {
  const std::size_t count = nodes.size();
  for (const char* name : {"nvidiactl", "nvidia-uvm"}) nodes.push_back(root / "dev" / name);
  for (const fs::path& node : nodes) {
    if (access(node.c_str(), F_OK) != 0) {
      return {"devices", Health::problem, format("{} is not there", node.string()),
              "load the driver's modules: nvidia-modprobe -u -c 0"};
    }
    if (access(node.c_str(), R_OK | W_OK) != 0) {
      return {"devices", Health::problem, format("{} may not be opened", node.string()),
              "join the group that owns it, or correct its permissions"};
    }
  }
  return {"devices", Health::ok, format("{} GPUs, which may be opened", count)};
}

Finding counters_finding(const fs::path& root) {
  const std::string parameters = text_of(root / "proc/driver/nvidia/params");
  const bool restricted = parameters.find("RmProfilingAdminOnly: 1") != std::string::npos;
  if (parameters.empty() || (restricted && geteuid() != 0)) {
    return {"counters", Health::note,
            parameters.empty() ? "the driver does not say who may read performance counters"
                               : "only root may read performance counters",
            "for profilers: NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d"};
  }
  return {"counters", Health::ok, "performance counters may be read"};
}

Finding persistence_finding(const fs::path& root) {
  std::error_code none;
  if (fs::exists(root / "run/nvidia-persistenced/socket", none)) {
    return {"persistence", Health::ok, "nvidia-persistenced runs"};
  }
  return {"persistence", Health::note, "nvidia-persistenced does not run",
          "without it the first call after idleness may take seconds: nvidia-smi -pm 1"};
}

}  // namespace

Findings gpu_findings(const Toolkit& toolkit, const fs::path& root) {
  const std::vector<fs::path> nodes = device_nodes(root);
  Findings found{nvrtc_finding(toolkit)};
  if (toolkit.built) found.push_back(headers_finding(toolkit));
  found.push_back(driver_finding(toolkit, root, !nodes.empty()));
  if (nodes.empty()) return found;
  found.push_back(nodes_finding(root, nodes));
  if (toolkit.built && found.back().health == Health::ok && !toolkit.device_error.empty()) {
    found.push_back({"CUDA", Health::problem, toolkit.device_error,
                     "compare nvidia-smi, and CUDA_VISIBLE_DEVICES"});
  }
  found.push_back(counters_finding(root));
  found.push_back(persistence_finding(root));
  return found;
}

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
