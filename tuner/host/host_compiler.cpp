// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_compiler.hpp"

#include <cstdlib>
#include <utility>

#include "tuner/cache/preprocessor_options.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/stopwatch.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/host/cpu.hpp"
#include "tuner/host/elf.hpp"
#include "tuner/host/process.hpp"
#include "tuner/host/shim_text.hpp"
#include "tuner/host/translation.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace fs = std::filesystem;

namespace {

std::string find_compiler() {
  const char* chosen = std::getenv("AUTOTUNE_HOST_CXX");
  if (chosen != nullptr && *chosen != '\0') {
    const fs::path found = find_program(chosen);
    if (found.empty()) {
      throw Error(
          format("AUTOTUNE_HOST_CXX: there is no program {} (give a C++ compiler)", chosen));
    }
    return found.string();
  }
  for (const char* name : {"g++", "clang++", "c++"}) {
    if (const fs::path found = find_program(name); !found.empty()) return found.string();
  }
  throw Error(
      "the host device needs a C++ compiler, and neither g++ nor clang++ is in PATH (install g++, "
      "or set AUTOTUNE_HOST_CXX)");
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The time limit for asking a compiler for its version.
constexpr double kVersionSeconds = 60;

}  // namespace

HostCompiler::HostCompiler(std::shared_ptr<BuildCache> cache,
                           std::shared_ptr<CompilerRunner> runner, std::string optimization)
    : cache_(std::move(cache)),
      runner_(std::move(runner)),
      optimization_(std::move(optimization)),
      program_(find_compiler()) {
  const ProcessResult result = run_process({program_, "--version"}, kVersionSeconds);
  if (result.timed_out || result.status != 0) {
    throw Error(format("{} --version {}: it is not a C++ compiler (set AUTOTUNE_HOST_CXX)",
                       program_,
                       result.timed_out ? "does not end" : format("fails ({})", result.status)));
  }
  version_ = first_line(result.output);
}

std::vector<std::string> HostCompiler::options_of(const SourceUnit& unit) const {
  // No -ffast-math: kernels may compute infinities and NaN.
  std::vector<std::string> options = {"-x",
                                      "c++",
                                      "-std=c++17",
                                      optimization_,
                                      "-march=native",
                                      "-ffp-contract=fast",
                                      "-fno-strict-aliasing",  // kernels read floats as float4
                                      "-fno-math-errno",
                                      "-fno-trapping-math",
                                      "-fno-exceptions",
                                      "-fPIC",
                                      "-shared",
                                      "-fvisibility=hidden",
                                      "-pipe",
                                      "-w"};
  // Only g++ has unique symbols. They would keep a closed module loaded.
  if (version_.find("clang") == std::string::npos) options.push_back("-fno-gnu-unique");
  // The manifest's options are for NVRTC. Preprocessor options mean the same to every compiler.
  const auto common = common_options(preprocessor_options(unit.options));
  options.insert(options.end(), common.begin(), common.end());
  return options;
}

/// Cached only if the key covers every file that was read.
Build HostCompiler::build(const SourceUnit& unit, const std::string& source,
                          const Included& included) const {
  CompileTask task{program_, unit.name, source, {}};
  for (const fs::path& folder : unit.include_folders) {
    task.options.push_back("-I" + folder.string());
  }
  const auto options = options_of(unit);
  task.options.insert(task.options.end(), options.begin(), options.end());
  Build build = runner_->run(task);
  build.keep = build.keep && included.covers(build.read, {});
  return build;
}

/// Include folders are not part of the key, because the text of their files is.
std::string HostCompiler::key_of(const std::string& source, const std::vector<std::string>& options,
                                 const std::string& included) const {
  static const std::string cpu = cpu_fingerprint();  // reads files
  std::string all = version_ + '\0' + cpu + '\0' + source + '\0' + included;
  for (const ShimHeader& header : shim_headers()) all.append(header.text);
  for (const std::string& option : options) all += '\0' + option;
  return hash128(all);
}

bool HostCompiler::is_cached(const SourceUnit& unit) {
  return cache_->contains(
      key_of(host_source(unit), options_of(unit),
             included_.of(unit.text, unit.include_folders, unit.options)->text));
}

CompiledKernel HostCompiler::compile(const SourceUnit& unit) const {
  const std::string source = host_source(unit);
  const Included files = included(unit.text, unit.include_folders, unit.options);
  CompiledKernel kernel;
  kernel.key = key_of(source, options_of(unit), files.text());
  const Build made = cache_->find_or_make(kernel.key, [&] {
    const Stopwatch watch(kernel.seconds);
    return build(unit, source, files);
  });
  kernel.cached = made.cached;
  kernel.log = made.log;
  kernel.binary = made.binary;
  if (!made.binary) {
    kernel.outcome = made.late ? Outcome::timeout : Outcome::compile_error;
    return kernel;
  }
  const std::int64_t shared_bytes = shared_bytes_of(*made.binary);
  for (const std::string& entry : unit.entries) {
    KernelResources resources;
    resources.entry = entry;
    resources.shared_bytes = shared_bytes;
    kernel.resources.push_back(resources);
  }
  return kernel;
}

}  // namespace autotune
