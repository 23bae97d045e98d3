// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_compiler.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <regex>
#include <string_view>
#include <thread>
#include <utility>

#include "tuner/cache/preprocessor_options.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/kernel_arguments.hpp"
#include "tuner/core/refusals.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/host/host_module.hpp"
#include "tuner/host/process.hpp"
#include "tuner/host/translation.hpp"
#include "tuner/text/environment.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// The value of the first line `key : value`; empty when there is none.
std::string value_in(const char* file, std::string_view key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || trimmed(line.substr(0, colon)) != key) continue;
    return std::string(trimmed(std::string_view(line).substr(colon + 1)));
  }
  return "";
}

std::string model_name() {
  for (const char* key : {"model name", "Model", "cpu model", "uarch"}) {
    if (std::string name = value_in("/proc/cpuinfo", key); !name.empty()) return name;
  }
  return "CPU";
}

std::int64_t last_cache_bytes() {
  std::int64_t largest = 0;
  for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE}) {
    largest = std::max<std::int64_t>(largest, sysconf(level));
  }
  return largest;
}

}  // namespace

DeviceInfo cpu_info() {
  DeviceInfo info;
  info.name = model_name();
  info.kind = DeviceKind::host;
  info.multiprocessors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  info.threads_per_multiprocessor = info.max_threads_per_block;
  info.blocks_per_multiprocessor = 1;
  info.registers_per_multiprocessor = 0;
  // Shared memory is ordinary memory here. As much as on the largest GPU, so that the same
  // configurations are valid.
  info.shared_bytes_per_block = info.shared_bytes_per_multiprocessor = 256 << 10;
  info.l2_bytes = last_cache_bytes();
  info.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return info;
}

std::string cpu_fingerprint() {
  std::string flags = value_in("/proc/cpuinfo", "flags");
  if (flags.empty()) flags = value_in("/proc/cpuinfo", "Features");
  return model_name() + '\n' + flags;
}

std::int64_t available_memory_bytes() {
  return std::atoll(value_in("/proc/meminfo", "MemAvailable").c_str()) * 1024;
}

namespace fs = std::filesystem;

namespace {

std::string find_compiler() {
  const std::string chosen = environment_variable("AUTOTUNE_HOST_CXX");
  if (!chosen.empty()) {
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

/// The manifest's, but at least the shim's own.
std::string language_of(const PreprocessorOptions& options) {
  static constexpr std::array<std::string_view, 4> kOlder = {"", "c++03", "c++11", "c++14"};
  const bool is_older = std::ranges::find(kOlder, options.language) != kOlder.end();
  return is_older ? "c++17" : options.language;
}

bool forbids_contraction(std::string_view option) {
  return option == "-fmad=false" || option == "--fmad=false";
}

/// The time limit for asking a compiler for its version, or its folders.
constexpr double kVersionSeconds = 60;

/// Between two lines of what `-v` prints.
std::vector<fs::path> folders_in(const std::string& output) {
  std::vector<fs::path> folders;
  bool listed = false;
  for (std::string_view line : split(output, '\n')) {
    if (line.starts_with("End of search list")) break;
    if (listed && line.starts_with(' ')) folders.emplace_back(trimmed(line));
    listed = listed || line.starts_with("#include <...>");
  }
  return folders;
}

/// Folders that this variable adds to those of compilers.
void add_folders(const char* variable, std::vector<fs::path>& folders) {
  const std::string value = environment_variable(variable);
  if (value.empty()) return;
  for (const std::string_view folder : split(value, ':')) folders.emplace_back(folder);
}

std::vector<fs::path> folders_of_environment() {
  std::vector<fs::path> folders;
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"}) add_folders(variable, folders);
  return folders;
}

/// Whether a compiler lacks what a kernel waits for its whole grid with.
bool lacks_grid_barrier(const std::string& log) {
  static const std::regex kBarrier(
      "grid_group.*\\bsync\\b|\\bsync\\b.*grid_group|cudaCG(SynchronizeGrid|GetIntrinsicHandle)");
  return std::regex_search(log, kBarrier);
}

}  // namespace

std::vector<std::string> options_not_for_host(std::span<const std::string> options) {
  std::vector<std::string> others = preprocessor_options(options).others;
  std::erase_if(others, forbids_contraction);
  return others;
}

FoundCompiler found_compiler() {
  const std::string program = find_compiler();
  const auto answer_to = [&](const char* question) {
    const ProcessResult result = run_process({program, question}, kVersionSeconds);
    if (!result.timed_out && result.status == 0) return first_line(result.output);
    throw Error(format("{} {} {}: it is not a C++ compiler (set AUTOTUNE_HOST_CXX)", program,
                       question,
                       result.timed_out ? "does not end" : format("fails ({})", result.status)));
  };
  const std::string version = answer_to("--version");
  const std::string number = answer_to("-dumpversion");  // other programs have a --version, too
  if (number.empty() || number.find_first_not_of("0123456789.") != std::string::npos) {
    throw Error(
        format("{} -dumpversion prints \"{}\": it is not a C++ compiler (set "
               "AUTOTUNE_HOST_CXX)",
               program, printable(number)));
  }
  return {program, version};
}

HostCompiler::HostCompiler(std::shared_ptr<BuildCache> cache,
                           std::shared_ptr<CompilerRunner> runner, std::string optimization)
    : cache_(std::move(cache)),
      runner_(std::move(runner)),
      optimization_(std::move(optimization)),
      compiler_(found_compiler()) {}

std::vector<std::string> HostCompiler::options_of(const SourceUnit& unit) const {
  const PreprocessorOptions given = preprocessor_options(unit.options);
  const bool contracts = std::ranges::none_of(given.others, forbids_contraction);
  // No -ffast-math: kernels may compute infinities and NaN.
  std::vector<std::string> options = {"-x",
                                      "c++",
                                      "-std=" + language_of(given),
                                      optimization_,
                                      "-march=native",
                                      contracts ? "-ffp-contract=fast" : "-ffp-contract=off",
                                      "-fno-strict-aliasing",  // kernels read floats as float4
                                      "-fno-math-errno",
                                      "-fno-trapping-math",
                                      "-fno-exceptions",
                                      "-fstack-clash-protection",  // no frame skips a guard
                                      "-fPIC",
                                      "-shared",
                                      "-fvisibility=hidden",
                                      "-pipe",
                                      "-w"};
  // Only g++ has unique symbols. They would keep a closed module loaded.
  // Only GNU's assembler lists the files that it reads.
  const bool is_clang = compiler_.version.find("clang") != std::string::npos;
  options.emplace_back(is_clang ? "-fno-integrated-as" : "-fno-gnu-unique");
  if (std::ranges::find(unit.options, kCheckedAccesses) != unit.options.end()) {
    // The shim has what the sanitizer's library is for.
    options.insert(options.end(), {std::string(kCheckedAccesses), "-DAUTOTUNE_CHECKED_ACCESSES",
                                   "-nodefaultlibs"});
  }
  const auto common = common_options(given);
  options.insert(options.end(), common.begin(), common.end());
  return options;
}

/// The folders of system headers.
const std::vector<fs::path>& HostCompiler::system_folders() const {
  std::call_once(system_->found, [&] {
    const ProcessResult result =
        run_process({compiler_.program, "-E", "-v", "-x", "c++", "/dev/null"}, kVersionSeconds);
    system_->folders = folders_in(result.output);
    const std::vector<fs::path> added = folders_of_environment();
    std::erase_if(system_->folders, [&](const fs::path& folder) {
      return std::ranges::find(added, folder) != added.end();
    });
    if (system_->folders.empty()) system_->folders = {"/usr"};
  });
  return system_->folders;
}

/// Cached only if the key covers every file that was read.
Build HostCompiler::build(const SourceUnit& unit, const std::string& source,
                          const Included& included) const {
  CompileTask task{compiler_.program, unit.name, source, {}};
  for (const fs::path& folder : unit.include_folders) {
    task.options.push_back("-I" + folder.string());
  }
  const auto options = options_of(unit);
  task.options.insert(task.options.end(), options.begin(), options.end());
  Build build = runner_->run(task);
  if (!build.binary) {
    if (!build.late && unit.cooperative.empty() && lacks_grid_barrier(build.log)) {
      build.log = grid_barrier_refusal(unit.name, "it") + build.log;
    }
    return build;
  }
  build.keep = build.keep && included.covers(build.read, system_folders());
  if (!build.read) return build;
  std::vector<fs::path> folders = unit.include_folders;
  for (const auto& more :
       {preprocessor_options(unit.options).folders, system_folders(), folders_of_environment()}) {
    folders.insert(folders.end(), more.begin(), more.end());
  }
  if (const auto file = first_forbidden(*build.read, folders, unit.data_files)) {
    build.binary = nullptr;
    build.keep = false;
    build.log = file_refusal(unit.name, *file);
  }
  return build;
}

/// Include folders are not part of the key, because the text of their files is.
std::string HostCompiler::key_of(const std::string& source, const std::vector<std::string>& options,
                                 const std::string& included) const {
  static const std::string cpu = cpu_fingerprint();  // reads files
  std::string all = compiler_.version + '\0' + cpu + '\0' + source + '\0' + included;
  for (const ShimHeader& header : shim_headers()) all.append(header.name).append(header.text);
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
  CompiledKernel kernel = cache_->compiled(key_of(source, options_of(unit), files.text()),
                                           [&] { return build(unit, source, files); });
  if (!kernel.binary) {
    if (const auto with = with_runtime_header(unit, kernel.log)) return compile(*with);
    kernel.log =
        missing_header_refusal(unit.name, kernel.log) + advice_on(unit, kernel.log) + kernel.log;
    return kernel;
  }
  const std::int64_t shared_bytes = shared_bytes_of(*kernel.binary);
  const std::vector<std::string> types = symbols_with(*kernel.binary, kParametersTemplate);
  for (std::size_t i = 0; i < unit.entries.size(); ++i) {
    KernelResources resources;
    resources.entry = unit.entries[i];
    resources.shared_bytes = shared_bytes;
    const auto own = std::ranges::find_if(types, [&](const std::string& symbol) {
      return symbol.find(format("{}ILi{}E", kParametersTemplate, i)) != std::string::npos;
    });
    if (own != types.end()) resources.parameter_types = types_in_symbol(*own);
    kernel.resources.push_back(std::move(resources));
  }
  return kernel;
}

}  // namespace autotune
