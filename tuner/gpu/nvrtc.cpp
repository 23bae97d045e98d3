// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/nvrtc.hpp"

#include <dlfcn.h>
#include <nvrtc.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>

#include "tuner/cache/preprocessor_options.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/kernel_arguments.hpp"
#include "tuner/core/refusals.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/standard_headers.hpp"
#include "tuner/gpu/toolkit.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

using Clock = std::chrono::steady_clock;

class Program {
 public:
  Program(const std::string& source, const std::string& name, const HeaderList& headers = {}) {
    const nvrtcResult made = nvrtcCreateProgram(&handle_, source.c_str(), name.c_str(),
                                                static_cast<int>(headers.names.size()),
                                                headers.texts.data(), headers.names.data());
    if (made != NVRTC_SUCCESS) {
      throw NotCompiled(format("NVRTC cannot start on {}: {}", name, nvrtcGetErrorString(made)));
    }
  }
  ~Program() { nvrtcDestroyProgram(&handle_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void add_name(const std::string& expression) const {
    nvrtcAddNameExpression(handle_, expression.c_str());  // a bad one is an error of compiling
  }
  /// The name in the cubin, once that is compiled.
  std::string symbol(const std::string& expression) const {
    const char* name = nullptr;
    return nvrtcGetLoweredName(handle_, expression.c_str(), &name) == NVRTC_SUCCESS ? name : "";
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

std::atomic<bool> is_stopped{false};

/// Nonzero tells NVRTC to stop.
int is_over(void* deadline, void*) {
  return is_stopped || Clock::now() > *static_cast<const Clock::time_point*>(deadline) ? 1 : 0;
}

void check_stopped(const CompileTask& task) {
  if (is_stopped) throw NotCompiled(format("{}: not compiled: the program ends", task.name));
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

/// A variable for the types of a kernel's parameters.
std::string types_expression(const std::string& kernel) {
  return format("&{}<decltype(&{})>", kParametersTemplate, kernel);
}

std::vector<KernelSymbol> symbols_of(const Program& program, const CompileTask& task) {
  std::vector<KernelSymbol> symbols;
  for (const std::string& kernel : task.kernels) {
    symbols.push_back({kernel, is_name_expression(kernel) ? program.symbol(kernel) : kernel,
                       program.symbol(types_expression(kernel))});
  }
  return symbols;
}

/// The first kernel that needs a cooperative launch and gets none; empty if there is none.
std::string kernel_with_grid_barrier(const Program& program, const CompileTask& task,
                                     const std::vector<KernelSymbol>& symbols) {
  const std::set<std::string> kernels = kernels_with_grid_barrier(program.ptx());
  const auto found = std::ranges::find_if(symbols, [&](const KernelSymbol& each) {
    return kernels.contains(each.symbol) &&
           std::ranges::find(task.cooperative, each.entry) == task.cooperative.end();
  });
  return found == symbols.end() ? "" : found->entry;
}

Build compiled(const CompileTask& task, std::optional<std::chrono::duration<double>> limit,
               bool with_types) {
  // For a name without a folder, NVRTC would search headers in the working folder.
  const Program program(task.source, "/" + task.name,
                        standard_headers(preprocessor_options(task.options).folders));
  for (const std::string& kernel : task.kernels) {
    if (is_name_expression(kernel)) program.add_name(kernel);
    if (with_types) program.add_name(types_expression(kernel));
  }
  auto deadline = Clock::time_point::max();
  if (limit) deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(*limit);
  nvrtcSetFlowCallback(program.handle(), is_over, &deadline);
  check_stopped(task);
  const nvrtcResult result = compile(program, task.options);
  check_stopped(task);
  Build build;
  build.log = with_advice(program.log());
  if (result == NVRTC_SUCCESS) {
    const std::vector<KernelSymbol> symbols = symbols_of(program, task);
    const std::string refused = kernel_with_grid_barrier(program, task, symbols);
    if (!refused.empty()) {
      build.log = grid_barrier_refusal(task.name, refused);
      return build;
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

/// Without the types of kernels that do not exist or are overloaded.
Build compiled(const CompileTask& task, std::optional<std::chrono::duration<double>> limit) {
  const auto names_types = [](const std::string& text) {
    return text.find(kParametersTemplate) != std::string::npos;
  };
  const bool with_types = names_types(task.source);
  const Build build = compiled(task, limit, with_types);
  const bool again = with_types && !build.binary && names_types(build.log);
  return again ? compiled(task, limit, false) : build;
}

/// Of the template whose instances have the types of parameters. It is C++14.
std::string types_declaration(const SourceUnit& unit) {
  const std::string language = preprocessor_options(unit.options).language;
  if (language == "c++03" || language == "c++11") return "";
  return format("\ntemplate <class> __device__ char {};", kParametersTemplate);
}

/// sm_90a: wgmma is not in sm_90. Cubins of both run on compute capability 9.0 only.
std::string architecture_of(int compute_capability) {
  const int own = architecture_for(compute_capability, nvrtc_architectures())
                      .value_or(compute_capability);  // for NVRTC to refuse
  return format("sm_{}{}", own, own == 90 ? "a" : "");
}

std::string version_text(int compute_capability) {
  return format("{}.{}", compute_capability / 10, compute_capability % 10);
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

std::optional<int> architecture_for(int compute_capability, std::span<const int> known) {
  std::optional<int> newest;
  for (const int one : known) {
    if (one <= compute_capability && one / 10 == compute_capability / 10) newest = one;
  }
  return newest;
}

void require_architecture(const DeviceInfo& gpu, std::span<const int> known) {
  if (known.empty() || architecture_for(gpu.compute_capability, known)) return;
  const bool is_newer = gpu.compute_capability > known.back();
  throw Error(format("{} has compute capability {}, and NVRTC {} compiles for {} to {}: {}",
                     gpu.name, version_text(gpu.compute_capability), nvrtc_version(),
                     version_text(known.front()), version_text(known.back()),
                     is_newer ? "install a newer CUDA toolkit"
                              : "install an older CUDA toolkit; its occupancy can be computed all "
                                "the same (autotune occupancy)"));
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

CompileTask nvrtc_task(const SourceUnit& unit, int compute_capability) {
  return {"",
          unit.name,
          unit.prelude + types_declaration(unit) + "\n#line 1 \"" + unit.name + "\"\n" + unit.text,
          nvrtc_options(unit, compute_capability),
          unit.entries,
          unit.cooperative};
}

Build compile_with_nvrtc(const CompileTask& task,
                         std::optional<std::chrono::duration<double>> limit) {
  Build build;
  on_large_stack([&] { build = compiled(task, limit); });
  return build;
}

void stop_nvrtc() noexcept { is_stopped = true; }

std::shared_ptr<CompilerRunner> nvrtc_in_this_process() {
  class InThisProcess final : public CompilerRunner {
    Build run(const CompileTask& task) override { return compile_with_nvrtc(task); }
  };
  return std::make_shared<InThisProcess>();
}

namespace {

struct Function {
  std::string name;
  bool is_kernel = false;
  std::string_view body;
  bool has_barrier = false;
};

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

/// Handles are in special registers. Old toolkits have functions for it.
bool reads_handle(std::string_view code) {
  return contains(code, "%envreg") || contains(code, "cudaCG");
}

bool is_in_name(char c) { return is_in_identifier(c) || c == '$'; }

/// The last name before a parameter list, in `.func (.param .b32 result) name(`.
std::string name_in(std::string_view head) {
  if (head = trimmed(head); head.starts_with('(')) head = trimmed(after_parentheses(head));
  return {head.begin(), std::ranges::find_if_not(head, is_in_name)};
}

/// Bodies begin and end with a brace at the start of a line.
std::vector<Function> functions_of(std::string_view ptx) {
  std::vector<Function> functions;
  for (;;) {
    const auto open = ptx.find("\n{");
    if (open == std::string_view::npos) return functions;
    const auto close = std::min(ptx.find("\n}", open), ptx.size());
    const std::string_view before = ptx.substr(0, open);
    const auto kernel = before.rfind(".entry "), other = before.rfind(".func ");
    const bool is_kernel = kernel != before.npos && (other == before.npos || kernel > other);
    const auto at = is_kernel ? kernel + 7 : other + 6;
    if (is_kernel || other != before.npos) {
      functions.push_back({name_in(before.substr(at)), is_kernel, ptx.substr(open, close - open)});
    }
    ptx.remove_prefix(close);
  }
}

}  // namespace

std::set<std::string> kernels_with_grid_barrier(std::string_view ptx) {
  if (!reads_handle(ptx)) return {};
  std::vector<Function> functions = functions_of(ptx);
  for (Function& each : functions) each.has_barrier = reads_handle(each.body);
  for (bool again = true; again;) {
    again = false;
    for (Function& caller : functions) {
      if (caller.has_barrier) continue;
      caller.has_barrier = std::ranges::any_of(functions, [&](const Function& called) {
        return called.has_barrier && !called.is_kernel && contains(caller.body, called.name);
      });
      again = again || caller.has_barrier;
    }
  }
  std::set<std::string> kernels;
  for (const Function& each : functions) {
    if (each.is_kernel && each.has_barrier) kernels.insert(each.name);
  }
  return kernels;
}

namespace {

/// Reserves address space only; memory is committed as it is used.
constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kStacks[] = {256 * kMiB, 64 * kMiB, 16 * kMiB};

struct Job {
  const std::function<void()>& work;
  std::exception_ptr thrown = nullptr;
};

void* run(void* argument) {
  auto& job = *static_cast<Job*>(argument);
  try {
    job.work();
  } catch (...) {
    job.thrown = std::current_exception();
  }
  return nullptr;
}

bool runs_with(std::size_t stack_bytes, Job& job) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, &run, &job) == 0;
  pthread_attr_destroy(&attributes);
  return started && pthread_join(thread, nullptr) == 0;
}

}  // namespace

void on_large_stack(const std::function<void()>& work) {
  Job job{work};
  bool done = false;
  for (const std::size_t bytes : kStacks) {
    done = done || runs_with(bytes, job);
  }
  if (!done) run(&job);
  if (job.thrown) std::rethrow_exception(job.thrown);
}

}  // namespace autotune
