// SPDX-License-Identifier: Apache-2.0
// autotune doctor: checks what an installation needs and says how to get what is missing.
#include "tuner/cli/doctor.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>

#include "tuner/cache/build_cache.hpp"
#include "tuner/cli/plugins.hpp"
#include "tuner/cli/request.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/host/process.hpp"
#include "tuner/json/json.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kPythonSeconds = 20;

fs::path prefix() {
  std::error_code none;
  return fs::read_symlink("/proc/self/exe", none).parent_path().parent_path();
}

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

Finding compiler_finding() {
  const char* const chosen = std::getenv("AUTOTUNE_HOST_CXX");
  for (const char* name : {"g++", "clang++", "c++"}) {
    const fs::path program = find_program(chosen ? chosen : name);
    if (!program.empty()) return {"host compiler", Health::ok, program.string()};
  }
  return {"host compiler", Health::note,
          chosen ? format("AUTOTUNE_HOST_CXX: there is no {}", chosen) : "there is none",
          "install g++ or clang, for --device host"};
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
  const fs::path file = prefix() / "share/autotune/shipped.db";
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

extern const Verb kDoctor;
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

}  // namespace autotune::cli
