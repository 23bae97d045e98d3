// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/serving_kernel.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string>

#include "tuner/blas/options.hpp"
#include "tuner/text/format.hpp"

namespace autotune::blas {
namespace {

std::string path_of_library() {
  if (!options().library.empty()) return options().library;
  Dl_info self{};
  const void* const here = reinterpret_cast<const void*>(&path_of_library);
  if (dladdr(here, &self) == 0 || !self.dli_fname) return "libautotune.so";
  const std::string own = self.dli_fname;
  return own.substr(0, own.rfind('/') + 1) + "libautotune.so";
}

/// False if a function is missing, as in an earlier version.
bool bind(void* library, RuntimeLibrary& runtime) {
  bool is_whole = true;
  const auto find = [&](auto& function, const char* name) {
    void* const found = dlsym(library, name);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    is_whole = is_whole && found;
  };
  find(runtime.message, "autotune_message");
  find(runtime.open, "autotune_open");
  find(runtime.close, "autotune_close");
  find(runtime.device, "autotune_device");
  find(runtime.warnings, "autotune_warnings");
  find(runtime.lookup, "autotune_lookup");
  find(runtime.is_faster, "autotune_is_faster");
  find(runtime.prepare, "autotune_prepare");
  find(runtime.release, "autotune_release");
  find(runtime.configuration, "autotune_kernel_configuration");
  find(runtime.buffers, "autotune_kernel_buffers");
  find(runtime.buffer, "autotune_kernel_buffer");
  find(runtime.scalars, "autotune_kernel_scalars");
  find(runtime.scalar, "autotune_kernel_scalar");
  find(runtime.workspace, "autotune_kernel_workspace");
  find(runtime.launch_with, "autotune_launch_with");
  const bool is_usable = is_whole;
  find(runtime.stop_compiling, "autotune_stop_compiling");
  find(runtime.earns, "autotune_kernel_earns");
  find(runtime.begin_call, "autotune_begin_call");
  find(runtime.end_call, "autotune_end_call");
  if (!runtime.begin_call || !runtime.end_call) runtime.earns = nullptr;
  return is_usable;
}

const RuntimeLibrary* load() {
  const std::string path = path_of_library();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    warn_once(Topic::library, format("{}: cuBLAS serves every call", dlerror()));
    return nullptr;
  }
  auto* const runtime = new RuntimeLibrary;  // used until the process ends
  if (bind(library, *runtime)) return runtime;
  warn_once(Topic::library, format("{}: is of another version: cuBLAS serves every call", path));
  return nullptr;
}

}  // namespace

const RuntimeLibrary* runtime_library() {
  static const RuntimeLibrary* const loaded = load();
  return loaded;
}

namespace {

/// The limit for the workspace of all kernels: this, or this share of the GPU's memory.
constexpr std::uint64_t kLeastForAll = std::uint64_t{512} << 20, kPartForAll = 32;

/// Kernels of gemm that need no workspace declare four arrays of one element.
constexpr std::uint64_t kUnusedWorkspace = 64;

/// False if the workspace would exceed the limit.
bool take_workspace(std::uint64_t bytes) {
  static const std::uint64_t most =
      std::max(kLeastForAll, device_memory(current_device()) / kPartForAll);
  static std::atomic<std::uint64_t> taken{0};
  if (taken.fetch_add(bytes) + bytes <= most) return true;
  taken.fetch_sub(bytes);
  return false;
}

}  // namespace

autotune_kernel* PreparedProblem::prepare() const noexcept {
  autotune_kernel* kernel = nullptr;
  const bool is_made = runtime->prepare(handle, sizes.data(), sizes.size(), &kernel) == AUTOTUNE_OK;
  return is_made ? kernel : nullptr;
}

ServingKernel::ServingKernel(PreparedProblem problem, autotune_kernel* kernel, Arguments arguments,
                             const ServingKernel* stand_in)
    : problem_(std::move(problem)),
      kernel_(kernel),
      arguments_(std::move(arguments)),
      stand_in_(stand_in),
      earns_(problem_.runtime->earns && problem_.runtime->earns(kernel) != 0),
      workspace_(problem_.runtime->workspace(kernel)) {}

autotune_kernel* ServingKernel::kernel_for(Stream stream) const noexcept try {
  if (workspace_ <= kUnusedWorkspace) return kernel_;
  const std::optional<Place> place = place_of(stream);
  if (!place) return nullptr;
  const std::lock_guard lock(claiming_);
  const auto is_held = [&](const Claim& one) { return one.place == *place && !one.is_over; };
  const auto held = std::ranges::find_if(claims_, is_held);
  if (held != claims_.end()) return held->kernel;
  const auto is_free = [](const Claim& one) { return one.kernel && one.is_over; };
  auto claim = std::ranges::find_if(claims_, is_free);
  if (claim == claims_.end()) {
    autotune_kernel* const another = another_kernel();
    claim = std::ranges::find_if(claims_, [](const Claim& one) { return one.is_over.load(); });
    if (claim == claims_.end()) claim = claims_.emplace(claims_.end());
    claim->kernel = another;  // also where there is none: the place does not ask again
  }
  claim->place = *place;
  claim->is_over = false;
  if (place->capture != 0) note_end_of_graph(stream, claim->is_over);
  return claim->kernel;
} catch (...) {  // memory is short
  return nullptr;
}

autotune_kernel* ServingKernel::another_kernel() const noexcept {
  if (!take_workspace(workspace_)) return nullptr;
  const auto is_first = [&](const Claim& one) { return one.kernel == kernel_; };
  return std::ranges::none_of(claims_, is_first) ? kernel_ : problem_.prepare();
}

bool ServingKernel::leaves_to_vendor(Stream stream, bool& is_timed) const noexcept {
  std::int32_t timed = 0;
  const autotune_engine engine = problem_.runtime->begin_call(kernel_, stream, &timed);
  is_timed = timed != 0;
  return engine == AUTOTUNE_VENDOR_LIBRARY;
}

void ServingKernel::end_call(Stream stream, bool has_run) const noexcept {
  problem_.runtime->end_call(kernel_, stream, has_run ? 1 : 0);
}

Outcome ServingKernel::launch(const CallValues& values, Stream stream) const noexcept {
  autotune_kernel* const kernel = kernel_for(stream);
  if (!kernel) return stand_in_ ? stand_in_->launch(values, stream) : Outcome::no_workspace;
  // The row-major problem is D^T = op(B)^T op(A)^T. Without beta, C is not read.
  const void* const bias = values.bias ? values.bias : values.d;
  const void* const added = values.beta != 0 ? values.c : bias;
  const void* const places[] = {values.b, values.a,       added,
                                values.d, values.scale_b, values.scale_a};
  std::array<void*, std::size(places)> buffers{};
  const std::vector<Operand>& operands = arguments_.operands;
  if (operands.size() > buffers.size()) return Outcome::failed;
  std::ranges::transform(operands, buffers.begin(), [&](Operand operand) {
    return const_cast<void*>(places[static_cast<std::size_t>(operand)]);
  });
  const double scalars[] = {values.alpha, values.beta};
  const autotune_status status = problem_.runtime->launch_with(
      kernel, buffers.data(), operands.size(), scalars, arguments_.takes_scalars ? 2 : 0, stream);
  return status == AUTOTUNE_OK ? Outcome::served : Outcome::failed;
}

}  // namespace autotune::blas
