// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_compiler.hpp"

#include <cstdlib>
#include <fstream>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/core/stopwatch.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/host/cpu.hpp"
#include "tuner/host/elf.hpp"
#include "tuner/host/process.hpp"
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

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What kept the compiler from its work, which no other source would change; or nothing.
std::string broken_environment(const std::string& log) {
  for (const char* sign : {"No space left on device", "File too large", "Read-only file system"}) {
    if (log.find(sign) != std::string::npos) return sign;
  }
  return "";
}

/// Whether the compiler was ended, by a person or for want of memory, rather than done.
bool was_ended(const ProcessResult& result) {
  return result.status > 128 ||
         result.output.find("signal terminated program") != std::string::npos;
}

/// The manifest's options are NVRTC's; macros and folders mean the same to every compiler.
bool is_common_option(const std::string& option) {
  return option.starts_with("-D") || option.starts_with("-U") || option.starts_with("-I");
}

}  // namespace

HostCompiler::HostCompiler(std::shared_ptr<BuildCache> cache, double limit_seconds,
                           std::string optimization)
    : cache_(std::move(cache)),
      limit_seconds_(limit_seconds),
      optimization_(std::move(optimization)),
      program_(find_compiler()) {
  const ProcessResult result = run_process({program_, "--version"}, limit_seconds_);
  if (result.timed_out || result.status != 0) {
    throw Error(format("{} --version {}: it is no C++ compiler (set AUTOTUNE_HOST_CXX)", program_,
                       result.timed_out ? "does not end" : format("fails ({})", result.status)));
  }
  version_ = first_line(result.output);
}

std::vector<std::string> HostCompiler::options_of(const SourceUnit& unit) const {
  // No -ffast-math: infinities and NaN are a kernel's results like any others.
  std::vector<std::string> options = {"-x",
                                      "c++",
                                      "-std=c++17",
                                      optimization_,
                                      "-march=native",
                                      "-ffp-contract=fast",
                                      "-fno-math-errno",
                                      "-fno-trapping-math",
                                      "-fno-exceptions",
                                      "-fPIC",
                                      "-shared",
                                      "-fvisibility=hidden",
                                      "-pipe",
                                      "-w"};
  // g++ alone has unique symbols; they would keep a closed module loaded.
  if (version_.find("clang") == std::string::npos) options.push_back("-fno-gnu-unique");
  for (const std::string& option : unit.options) {
    if (is_common_option(option)) options.push_back(option);
  }
  return options;
}

Build HostCompiler::build(const std::string& source,
                          const std::vector<std::string>& options) const {
  const TemporaryFolder folder;
  const fs::path input = folder.path() / "kernel.cpp", output = folder.path() / "kernel.so";
  if (!(std::ofstream(input, std::ios::binary) << source).flush()) {
    throw Error(format("{} cannot be written (is the disk full? set TMPDIR)", input.string()));
  }
  std::vector<std::string> argv = {program_};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.insert(argv.end(), {input.string(), "-o", output.string(), "-lm"});
  const ProcessResult result = run_process(argv, limit_seconds_);
  Build build;
  build.log = result.output;
  if (result.timed_out) {
    build.log += format("the compiler was killed after {} s\n", limit_seconds_);
    build.keep = false;
  } else if (const std::string why = broken_environment(build.log);
             result.status != 0 && !why.empty()) {
    throw Error(format("{} cannot write what it compiles: {} (is the disk full? set TMPDIR)",
                       program_, why));
  } else if (result.status != 0 && was_ended(result)) {
    build.log += "the compiler was ended by a signal; there may be too little memory\n";
    build.keep = false;
  } else if (result.status == 0) {
    build.binary = std::make_shared<const std::string>(bytes_of_file(output));
  }
  return build;
}

/// Folders are left out of the key: the text of what lies in them is in it.
std::string HostCompiler::key_of(const std::string& source, const std::vector<std::string>& options,
                                 const std::string& included) const {
  static const std::string cpu = cpu_fingerprint();  // reads files
  std::string all = version_ + '\0' + cpu + '\0' + source + '\0' + included;
  for (const std::string& option : options) all += '\0' + option;
  return hash128(all);
}

bool HostCompiler::is_cached(const SourceUnit& unit) {
  return cache_->contains(
      key_of(host_source(unit), options_of(unit), included_.of(unit.text, unit.include_folders)));
}

CompiledKernel HostCompiler::compile(const SourceUnit& unit) const {
  const std::string source = host_source(unit);
  std::vector<std::string> options = options_of(unit);
  CompiledKernel kernel;
  kernel.key = key_of(source, options, included_text(unit.text, unit.include_folders));
  for (const fs::path& folder : unit.include_folders) options.push_back("-I" + folder.string());
  const Build made = cache_->find_or_make(kernel.key, [&] {
    const Stopwatch watch(kernel.seconds);
    return build(source, options);
  });
  kernel.cached = made.cached;
  kernel.log = made.log;
  kernel.binary = made.binary;
  if (!made.binary) {
    kernel.outcome = made.keep ? Outcome::compile_error : Outcome::timeout;
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
