// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cubin_compiler.hpp"

#include <algorithm>
#include <utility>

#include "tuner/core/stopwatch.hpp"
#include "tuner/gpu/cubin.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace {

/// Folders that the tool adds are left out of the key: the text of what lies in them is in it, or
/// they are those of the toolkit, whose version is. A unit's own may hold anything.
bool is_left_out(const SourceUnit& unit, const std::string& option) {
  return option.starts_with("-I") && std::ranges::find(unit.options, option) == unit.options.end();
}

std::string key_of(const SourceUnit& unit, const std::vector<std::string>& options,
                   const std::string& included) {
  std::string all = "nvrtc " + nvrtc_version();
  for (const std::string& option : options) {
    if (!is_left_out(unit, option)) all += '\0' + option;
  }
  for (const std::string* text : {&unit.name, &unit.prelude, &unit.text}) all += '\0' + *text;
  all += '\0' + included;
  return hash128(all);
}

/// The unit's entries in its order; what is missing goes into `log`.
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

CubinCompiler::CubinCompiler(int compute_capability, std::shared_ptr<BuildCache> cache)
    : compute_capability_(compute_capability), cache_(std::move(cache)) {}

CompiledKernel CubinCompiler::compile(const SourceUnit& unit) const {
  const auto options = nvrtc_options(unit, compute_capability_);
  CompiledKernel kernel;
  kernel.key = key_of(unit, options, included_text(unit.text, unit.include_folders));
  const Build build = cache_->find_or_make(kernel.key, [&] {
    const Stopwatch watch(kernel.seconds);
    return compile_with_nvrtc(unit, options);
  });
  kernel.cached = build.cached;
  kernel.log = build.log;
  kernel.binary = build.binary;
  if (!build.binary) {
    kernel.outcome = build.keep ? Outcome::compile_error : Outcome::timeout;
    return kernel;
  }
  kernel.resources = resources_of(unit, *build.binary, kernel.log);
  if (kernel.resources.size() != unit.entries.size()) {
    kernel.outcome = Outcome::compile_error;
    kernel.binary = nullptr;
  }
  return kernel;
}

bool CubinCompiler::is_cached(const SourceUnit& unit) const {
  const auto options = nvrtc_options(unit, compute_capability_);
  return cache_->contains(key_of(unit, options, included_->of(unit.text, unit.include_folders)));
}

}  // namespace autotune
