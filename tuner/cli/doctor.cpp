// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/doctor.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "db/store.hpp"
#include "tuner/cache/build_cache.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/file/replace_file.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/host/host_compiler.hpp"
#include "tuner/host/process.hpp"
#include "tuner/json/json.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune::cli {
// autotune doctor: checks what an installation needs and says how to get what is missing.

namespace {

namespace fs = std::filesystem;

constexpr double kPythonSeconds = 20;

/// A check that fails to run is a finding, too.
template <class Check>
void add(Findings& found, const char* what, const Check& check) try {
  found.push_back(check());
} catch (const std::exception& error) {
  found.push_back({what, Health::problem, error.what()});
}

void add_gpus(Findings& found) {
  for (const DeviceInfo& gpu : cuda_devices()) {
    found.push_back({"GPU", Health::ok,
                     format("{}, compute capability {}.{}", gpu.name, gpu.compute_capability / 10,
                            gpu.compute_capability % 10)});
  }
}

Finding compiler_finding() try {
  return {"host compiler", Health::ok, found_compiler().program};
} catch (const Error& error) {  // only --device host needs it
  return {"host compiler", Health::note, error.what()};
}

Finding targets_finding() {
  std::string unusable;
  const std::vector<CatalogEntry> targets = list_targets();
  for (const CatalogEntry& entry : targets) {
    try {
      load_manifest(entry.manifest);
    } catch (const std::exception& error) {
      if (unusable.empty()) unusable = error.what();
    }
  }
  if (!unusable.empty()) return {"targets", Health::note, unusable, "autotune list targets"};
  if (targets.empty()) {
    return {"targets", Health::problem, "there are none beside this program",
            "install autotune again, or set AUTOTUNE_KERNEL_PATH"};
  }
  return {"targets", Health::ok, format("{} targets", targets.size())};
}

void add_plugins(Findings& found, const Arguments& arguments) try {
  Plugins plugins(arguments);
  if (plugins.load_all().empty()) found.push_back({"plugin", Health::ok, "none"});
  for (const PluginEntry& entry : plugins.load_all()) {
    if (entry.description) {
      found.push_back({"plugin", Health::ok,
                       format("{} {}", entry.description->name, entry.description->version)});
    } else {
      found.push_back({"plugin", Health::note, format("{}: {}", entry.file.string(), entry.reason),
                       "remove it, or install what it needs"});
    }
  }
} catch (const std::exception& error) {
  found.push_back({"plugin", Health::problem, error.what(), "correct AUTOTUNE_PLUGIN_PATH"});
}

Finding shipped_finding() {
  const fs::path file = shipped_database();
  if (!fs::exists(file)) {
    return {"shipped results", Health::note, format("{} is missing", file.string()),
            "install autotune again"};
  }
  return database_finding("shipped results", file);
}

Finding preload_finding() {
  const fs::path library = prefix() / AUTOTUNE_LIBRARY_FOLDER / "libautotune_blas.so";
  if (!fs::exists(library)) {
    return {"preload library", Health::note, format("there is no {}", library.string()),
            "install autotune again, for autotune run"};
  }
  return {"preload library", Health::ok, library.string()};
}

Finding python_finding() {
  const fs::path python = find_program("python3");
  if (python.empty()) return {"Python", Health::note, "there is no python3", "optional"};
  const ProcessResult result = run_process(
      {python.string(), "-c", "import autotune; print(autotune.__file__)"}, kPythonSeconds);
  if (result.status != 0) {
    return {"Python", Health::note, format("{} has no module autotune", python.string()),
            "optional: pip install . in the sources"};
  }
  return {"Python", Health::ok, result.output.substr(0, result.output.find('\n'))};
}

Findings all_findings(const Arguments& arguments) {
  Findings found;
  add(found, "worker", [] {
    return Finding{"worker", Health::ok, find_worker_program().string()};
  });
  std::ranges::move(gpu_findings(toolkit(), "/"), std::back_inserter(found));
  add_gpus(found);
  add(found, "host compiler", compiler_finding);
  add(found, "targets", targets_finding);
  add_plugins(found, arguments);
  add(found, "cache", [] { return cache_finding(BuildCache::default_folder()); });
  add(found, "database", [&] { return database_finding("database", database_path(arguments)); });
  add(found, "shipped results", shipped_finding);
  add(found, "preload library", preload_finding);
  add(found, "Python", python_finding);
  return found;
}

const char* name_of(Health health) {
  return health == Health::ok ? "ok" : health == Health::note ? "note" : "problem";
}

Json findings_json(const Findings& found) {
  Json json = Json::array();
  for (const Finding& each : found) {
    json.push_back({{"what", each.what},
                    {"health", name_of(each.health)},
                    {"state", each.state},
                    {"advice", each.advice}});
  }
  return json;
}

void print(const Findings& found) {
  std::size_t width = 0;
  for (const Finding& each : found) width = std::max(width, each.what.size());
  for (const Finding& each : found) {
    std::cout << format("{:<7}  {:<{}}  {}{}{}\n", name_of(each.health), each.what, width,
                        each.state, each.advice.empty() ? "" : ": ", each.advice);
  }
}

int run_doctor(const Arguments& arguments) {
  const Findings found = all_findings(arguments);
  if (arguments.has("json")) {
    std::cout << json_text(findings_json(found)) << '\n';
  } else {
    print(found);
  }
  const bool healthy = std::ranges::none_of(
      found, [](const Finding& each) { return each.health == Health::problem; });
  return healthy ? kDone : kFailed;
}

}  // namespace

const Verb kDoctor{
    .name = "doctor",
    .synopsis = "[--db FILE] [--plugin FILE] [--json]",
    .summary = "Check the installation: what is missing, and how to get it",
    .details =
        "Looks at the toolkit, the driver, the GPUs and the permission to open them, the host "
        "compiler, "
        "targets, plugins, the cache, the databases, the preload library and Python. Each line "
        "says what is there and what to do. `note` is something that not everybody needs. The exit "
        "status is 1 if there is a `problem`. It changes nothing.",
    .options = {{"db", "FILE", "The database"},
                kPluginOption,
                {"json", "", "Print a JSON array of {what, health, state, advice}"}},
    .positional = {},
    .run = run_doctor};

// autotune doctor: the toolkit, the driver and the GPUs.

namespace {

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
