// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/nvrtc.hpp"

#include <dlfcn.h>
#include <nvrtc.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "tuner/core/error.hpp"
#include "tuner/gpu/cubin.hpp"
#include "tuner/gpu/large_stack.hpp"
#include "tuner/gpu/toolkit_headers.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace {

using Clock = std::chrono::steady_clock;

class Program {
 public:
  Program(const std::string& source, const std::string& name) {
    const nvrtcResult made =
        nvrtcCreateProgram(&handle_, source.c_str(), name.c_str(), 0, nullptr, nullptr);
    if (made != NVRTC_SUCCESS) {
      throw NotCompiled(format("NVRTC cannot start on {}: {}", name, nvrtcGetErrorString(made)));
    }
  }
  ~Program() { nvrtcDestroyProgram(&handle_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void add_name(const std::string& kernel) const {
    nvrtcAddNameExpression(handle_, kernel.c_str());  // a bad one is an error of compiling
  }
  /// Its name in the cubin, once that is compiled.
  std::string symbol(const std::string& kernel) const {
    const char* name = nullptr;
    return nvrtcGetLoweredName(handle_, kernel.c_str(), &name) == NVRTC_SUCCESS ? name : "";
  }

  nvrtcProgram handle() const { return handle_; }

  std::string log() const { return text(nvrtcGetProgramLogSize, nvrtcGetProgramLog); }
  std::string cubin() const { return text(nvrtcGetCUBINSize, nvrtcGetCUBIN, false); }
  std::string ptx() const { return text(nvrtcGetPTXSize, nvrtcGetPTX); }

 private:
  /// NVRTC's sizes include the final NUL.
  template <class Size, class Read>
  std::string text(Size size, Read read, bool zero_at_end = true) const {
    std::size_t bytes = 0;
    if (size(handle_, &bytes) != NVRTC_SUCCESS) return "";
    std::string result(bytes, '\0');
    if (read(handle_, result.data()) != NVRTC_SUCCESS) return "";
    if (zero_at_end) result.resize(std::min(result.find('\0'), result.size()));
    return result;
  }

  nvrtcProgram handle_ = nullptr;
};

/// Loads NVRTC's builtins in advance. NVRTC opens them by file name alone, so it finds them only if
/// the toolkit is on the loader's path or they are loaded already. If they are missing, NVRTC
/// reports it.
bool load_builtins() {
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  const auto library = nvrtc_folder() / format("libnvrtc-builtins.so.{}.{}", major, minor);
  return dlopen(library.c_str(), RTLD_NOW) != nullptr;
}

nvrtcResult compile(const Program& program, const std::vector<std::string>& options) {
  [[maybe_unused]] static const bool loaded = load_builtins();
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  return nvrtcCompileProgram(program.handle(), static_cast<int>(words.size()), words.data());
}

/// Nonzero tells NVRTC to stop.
int is_late(void* deadline, void*) {
  return Clock::now() > *static_cast<const Clock::time_point*>(deadline) ? 1 : 0;
}

/// Read from the head of any PTX, because nvrtcVersion() has no patch number: `// Cuda compilation
/// tools, release 13.0, V13.0.88`.
std::string find_version() {
  const Program program("", "version.cu");
  if (compile(program, {}) == NVRTC_SUCCESS) {
    const std::string ptx = program.ptx();
    const auto at = ptx.find(", V");
    if (at != std::string::npos) return ptx.substr(at + 3, ptx.find_first_of("\r\n", at) - at - 3);
  }
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  return format("{}.{}", major, minor);
}

/// The log when ptxas runs out of memory: it reports that on stderr only.
constexpr std::string_view kAborted = "ptxas fatal   : Ptx assembly aborted due to errors";

/// Whether the source or the options are to blame. Otherwise the machine is.
bool is_refusal(nvrtcResult result, std::string_view log) {
  switch (result) {
    case NVRTC_ERROR_COMPILATION:
      return !log.starts_with(kAborted);
    case NVRTC_ERROR_INVALID_INPUT:
    case NVRTC_ERROR_INVALID_OPTION:
      return true;
    default:
      return false;
  }
}

Build compiled(const CompileTask& task, std::optional<std::chrono::duration<double>> limit) {
  // For a name without a folder, NVRTC would search headers in the working folder.
  const Program program(task.source, "/" + task.name);
  for (const std::string& kernel : task.kernels) program.add_name(kernel);
  auto deadline = Clock::now();
  if (limit) {
    deadline += std::chrono::duration_cast<Clock::duration>(*limit);
    nvrtcSetFlowCallback(program.handle(), is_late, &deadline);
  }
  const nvrtcResult result = compile(program, task.options);
  Build build;
  build.log = with_advice(program.log());
  if (result == NVRTC_SUCCESS) {
    std::vector<KernelSymbol> symbols;
    for (const std::string& kernel : task.kernels) {
      symbols.push_back({kernel, program.symbol(kernel)});
    }
    build.binary = std::make_shared<const std::string>(with_symbols(program.cubin(), symbols));
  } else if (result == NVRTC_ERROR_CANCELLED) {
    build.late = true;
    build.keep = false;
    build.log =
        format("{}: compiling took more than {} s and was stopped", task.name, limit->count());
  } else if (!is_refusal(result, build.log)) {
    throw NotCompiled(
        format("{}: NVRTC: {} {}", task.name, nvrtcGetErrorString(result), build.log));
  } else if (build.log.empty()) {
    build.log = format("{}: {}", task.name, nvrtcGetErrorString(result));
  }
  return build;
}

/// sm_90a: wgmma is not in sm_90. Cubins of both run on compute capability 9.0 only.
std::string architecture_of(int compute_capability) {
  return format("sm_{}{}", compute_capability, compute_capability == 90 ? "a" : "");
}

bool names_architecture(const std::string& option) {
  return option.starts_with("-arch") || option.starts_with("--gpu-architecture");
}

}  // namespace

const std::string& nvrtc_version() {
  static const std::string version = find_version();
  return version;
}

std::span<const int> nvrtc_architectures() {
  static const std::vector<int> architectures = [] {
    int count = 0;
    nvrtcGetNumSupportedArchs(&count);
    std::vector<int> found(static_cast<std::size_t>(count));
    if (count > 0) nvrtcGetSupportedArchs(found.data());
    std::ranges::sort(found);
    return found;
  }();
  return architectures;
}

std::vector<std::string> nvrtc_options(const SourceUnit& unit, int compute_capability) {
  std::vector<std::string> options{"-std=c++17", "-default-device"};
  if (std::ranges::none_of(unit.options, names_architecture)) {
    options.push_back("-arch=" + architecture_of(compute_capability));
  }
  // BuildCache is the only cache. NVRTC's own would falsify compile times.
  options.emplace_back("--no-cache");
  for (const auto& folder : unit.include_folders) options.push_back("-I" + folder.string());
  for (const auto& folder : toolkit_headers()) options.push_back("-I" + folder.string());
  options.insert(options.end(), unit.options.begin(), unit.options.end());
  return options;
}

std::vector<std::string> name_expressions(const SourceUnit& unit) {
  std::vector<std::string> names;
  std::ranges::copy_if(unit.entries, std::back_inserter(names), is_name_expression);
  return names;
}

CompileTask nvrtc_task(const SourceUnit& unit, int compute_capability) {
  return {"", unit.name, unit.prelude + "\n#line 1 \"" + unit.name + "\"\n" + unit.text,
          nvrtc_options(unit, compute_capability), name_expressions(unit)};
}

Build compile_with_nvrtc(const CompileTask& task,
                         std::optional<std::chrono::duration<double>> limit) {
  Build build;
  on_large_stack([&] { build = compiled(task, limit); });
  return build;
}

std::shared_ptr<CompilerRunner> nvrtc_in_this_process() {
  class InThisProcess final : public CompilerRunner {
    Build run(const CompileTask& task) override { return compile_with_nvrtc(task); }
  };
  return std::make_shared<InThisProcess>();
}

}  // namespace autotune
