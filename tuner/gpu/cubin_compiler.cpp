// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cubin_compiler.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tuner/cache/preprocessor_options.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/refusals.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/gpu/standard_headers.hpp"
#include "tuner/gpu/toolkit.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Include folders that the tool adds are not part of the key, because their files are. A unit's
/// own folders may hold anything.
bool is_left_out(const SourceUnit& unit, const std::string& option) {
  return option.starts_with("-I") && std::ranges::find(unit.options, option) == unit.options.end();
}

std::string key_of(const SourceUnit& unit, const std::vector<std::string>& options,
                   const IncludedTexts::Known& files) {
  std::string all = "nvrtc, types " + nvrtc_version();
  if (files.included.others || !files.included.complete) {
    all += '\0' + toolkit_stamp() + standard_headers_hash();
  }
  for (const std::string& option : options) {
    if (!is_left_out(unit, option)) all += '\0' + option;
  }
  for (const std::string* text : {&unit.name, &unit.prelude, &unit.text}) all += '\0' + *text;
  for (const std::string& entry : unit.entries) all += '\0' + entry;
  for (const std::string& entry : unit.cooperative) {
    all += '\0' + format("cooperative {}", entry);
  }
  all += '\0' + files.text;
  return hash128(all);
}

std::vector<std::filesystem::path> paths_of(const Included& included) {
  std::vector<std::filesystem::path> paths;
  for (const IncludedFile& file : included.files) paths.push_back(file.path);
  return paths;
}

/// A sentence to put before NVRTC's complaint about host code of CUB or Thrust; else empty.
std::string advice_on_libraries(const SourceUnit& unit, const std::string& log) {
  const bool is_host_code = log.find("is not allowed in JIT mode") != std::string::npos;
  for (const char* const library : {"cub", "thrust"}) {
    if (!is_host_code || log.find(format("/{}/", library)) == std::string::npos) continue;
    return format(
        "{}: error: it includes parts of {} that are for the host, and NVRTC compiles for the GPU "
        "only: include what the kernel uses, such as <cub/block/block_reduce.cuh>\n",
        unit.name, library);
  }
  return "";
}

/// A warning of ptxas (C7508 to C7515): it serializes wgmma. Such a kernel is several times slower
/// than intended, so it is refused.
constexpr std::string_view kSerialized = "wgmma.mma_async instructions are serialized";

/// The unit's entries, in order. Missing ones are reported in `log`.
std::vector<KernelResources> resources_of(const SourceUnit& unit, const std::string& cubin,
                                          std::string& log) {
  const std::vector<CubinKernel> found = kernels_of(cubin);
  std::vector<KernelResources> resources;
  for (const std::string& entry : unit.entries) {
    const auto kernel =
        std::ranges::find(found, entry, [](const CubinKernel& k) { return k.resources.entry; });
    if (kernel != found.end()) {
      resources.push_back(kernel->resources);
      continue;
    }
    std::string others;
    for (const CubinKernel& other : found) others += " " + other.resources.entry;
    log += format("{}: there is no kernel `extern \"C\" __global__ void {}(...)`; compiled:{}\n",
                  unit.name, entry, others.empty() ? " none" : others);
  }
  return resources;
}

}  // namespace

CubinCompiler::CubinCompiler(int compute_capability, std::shared_ptr<BuildCache> cache,
                             std::shared_ptr<CompilerRunner> runner)
    : compute_capability_(compute_capability),
      cache_(std::move(cache)),
      runner_(runner ? std::move(runner) : nvrtc_in_this_process()) {}

/// Cached only if the key covers every file that was read.
Build CubinCompiler::build(const SourceUnit& unit, const Included& included) const {
  Build build = runner_->run(nvrtc_task(unit, compute_capability_));
  build.keep = build.keep && included.covers(build.read, toolkit_headers());
  if (!build.binary) return build;
  std::vector<std::filesystem::path> read = build.read.value_or(paths_of(included));
  std::vector<std::filesystem::path> folders = unit.include_folders;
  for (const auto& more : {preprocessor_options(unit.options).folders, toolkit_headers()}) {
    folders.insert(folders.end(), more.begin(), more.end());
  }
  if (const auto file = first_forbidden(read, folders, unit.data_files)) {
    build.binary = nullptr;
    build.keep = false;
    build.log = file_refusal(unit.name, *file);
  }
  return build;
}

CompiledKernel CubinCompiler::compile(const SourceUnit& unit) const {
  const auto files = included_->unchanged(unit.text, unit.include_folders, unit.options);
  CompiledKernel kernel =
      cache_->compiled(key_of(unit, nvrtc_options(unit, compute_capability_), *files),
                       [&] { return build(unit, files->included); });
  if (!kernel.binary) {
    if (const auto with = with_runtime_header(unit, kernel.log)) return compile(*with);
    kernel.log = advice_on_libraries(unit, kernel.log) + advice_on(unit, kernel.log) + kernel.log;
    return kernel;
  }
  if (kernel.log.find(kSerialized) != std::string::npos) {
    kernel.outcome = Outcome::invalid;
    kernel.binary = nullptr;
    return kernel;
  }
  kernel.resources = resources_of(unit, *kernel.binary, kernel.log);
  if (kernel.resources.size() != unit.entries.size()) {
    kernel.outcome = Outcome::compile_error;
    kernel.binary = nullptr;
  }
  return kernel;
}

bool CubinCompiler::is_cached(const SourceUnit& unit) const {
  const auto options = nvrtc_options(unit, compute_capability_);
  return cache_->contains(
      key_of(unit, options, *included_->of(unit.text, unit.include_folders, unit.options)));
}

namespace {

class ModelDevice : public Device {
 public:
  ModelDevice(DeviceInfo info, std::shared_ptr<BuildCache> cache,
              std::shared_ptr<CompilerRunner> runner)
      : info_(std::move(info)),
        compiler_(info_.compute_capability, std::move(cache), std::move(runner)) {}

  const DeviceInfo& info() const override { return info_; }
  CompiledKernel compile(const SourceUnit& unit) override { return compiler_.compile(unit); }
  bool is_cached(const SourceUnit& unit) override { return compiler_.is_cached(unit); }
  void stop_compiling() override { compiler_.stop(); }
  bool runs() const override { return false; }
  std::unique_ptr<Workbench> open(const Workload& workload) override {
    throw Error(format("{}: {} is a model and runs nothing; use --device auto to measure",
                       workload.problem, info_.name));
  }

 private:
  DeviceInfo info_;
  CubinCompiler compiler_;
};

}  // namespace

std::unique_ptr<Device> make_model_device(DeviceInfo info, std::shared_ptr<BuildCache> cache,
                                          std::shared_ptr<CompilerRunner> runner) {
  require_architecture(info);
  info.environment = format("NVRTC {}", nvrtc_version());
  return std::make_unique<ModelDevice>(std::move(info), std::move(cache), std::move(runner));
}

}  // namespace autotune
