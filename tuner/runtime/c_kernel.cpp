// SPDX-License-Identifier: Apache-2.0
// The C API's compiling and launching: no exception leaves it.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/core/launch.hpp"
#include "tuner/core/launch_planner.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/gpu/call_timer.hpp"
#include "tuner/gpu/model_device.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/gpu/on_device.hpp"
#include "tuner/gpu/stream_capture.hpp"
#include "tuner/host/cpu.hpp"
#include "tuner/host/host_device.hpp"
#include "tuner/records/records.hpp"
#include "tuner/runtime/c_handle.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

using namespace autotune;
using namespace autotune::c_boundary;

namespace {

Device& compiler_of(autotune_handle& handle) {
  std::call_once(handle.device_made, [&] {
    handle.cache = std::make_shared<BuildCache>(BuildCache::default_folder());
    const DeviceInfo& info = handle.lookup.device();
    if (info.kind == DeviceKind::host && info.name == cpu_info().name) {
      handle.device = make_host_device(handle.cache);
      return;
    }
    if (info.kind == DeviceKind::host || info.kind == DeviceKind::fake) {
      throw NoDevice(
          format("{} is neither a GPU nor this host: kernels cannot be loaded on it", info.name));
    }
    // Compiling needs no GPU, and opening a GPU takes longer than everything else here.
    handle.device = make_model_device(info, handle.cache);
  });
  return *handle.device;
}

/// autotune_warnings() has what the cache says, once.
void warn_of_cache(autotune_handle& handle) {
  const std::string warning = handle.cache->warning();
  if (!warning.empty()) std::call_once(handle.cache_warned, [&] { handle.lookup.warn(warning); });
}

/// In a capture, only where an early start was measured to be faster.
EarlyStart early_start_of(const autotune_handle& handle, const LookupAnswer& answer) {
  const bool is_asked_for = handle.early_start == EarlyStart::everywhere;
  return is_asked_for || answer.early_start ? handle.early_start : EarlyStart::never;
}

bool is_on_host(const autotune_handle& handle) {
  return autotune_place(&handle) == AUTOTUNE_ON_HOST;
}

/// What a program needs to call the problem. Without a configuration, a library computes it.
std::unique_ptr<autotune_kernel> planned(const autotune_handle& handle, const Problem& problem,
                                         std::string_view configuration) {
  const TargetLookup& lookup = handle.lookup;
  auto kernel = std::make_unique<autotune_kernel>();
  kernel->configuration = configuration;
  kernel->ordinal = handle.ordinal;
  kernel->is_for_host = is_on_host(handle);
  if (configuration.empty()) {
    const TargetProgram program(lookup.target(), problem, lookup.device());
    kernel->buffers = program.buffers();
    kernel->scalars = program.scalars();
    return kernel;
  }
  CallPlan call = call_plan_of(lookup.target(), problem, lookup.device(),
                               parse_named_values(kernel->configuration));
  kernel->plan = std::move(call.plan);
  kernel->buffers = std::move(call.buffers);
  kernel->scalars = std::move(call.scalars);
  pass_unchecked(kernel->plan, kernel->buffers);
  return kernel;
}

std::unique_ptr<autotune_kernel> compile(autotune_handle& handle, const TargetLookup& lookup,
                                         const Problem& problem, const std::string& configuration) {
  require_kernels(lookup.target(), "libautotune");
  const TargetProgram program(lookup.target(), problem, lookup.device());
  const Levels levels = program.levels(parse_named_values(configuration));
  CompiledKernel compiled = compiler_of(handle).compile(program.source_unit(levels));
  warn_of_cache(handle);
  auto kernel = planned(handle, problem, configuration);
  kernel->compiled = std::move(compiled);
  return kernel;
}

void load_on_host(autotune_handle& handle, autotune_kernel& kernel) {
  std::call_once(handle.threads_made, [&] { handle.on_host = std::make_shared<HostThreads>(); });
  kernel.on_host = std::make_unique<PreparedHostKernel>(
      handle.lookup.device(), *kernel.compiled.binary, kernel.plan, kernel.buffers, handle.on_host);
}

autotune_use use_of(Role role) {
  switch (role) {
    case Role::input:
      return AUTOTUNE_READ;
    case Role::inout:
      return AUTOTUNE_READ_AND_WRITTEN;
    case Role::checked:
      return AUTOTUNE_NOT_USED;
    default:
      return AUTOTUNE_WRITTEN;
  }
}

/// Launches the tuned kernel from now on.
void give_up(autotune_kernel& kernel, const std::string& why) {
  std::call_once(kernel.given_up, [&] {
    kernel.why_missing = kernel.baseline_name + ": " + why;
    kernel.engine.store(AUTOTUNE_VENDOR_MISSING, std::memory_order_release);
  });
}

/// Selects the kernel's GPU, if it is for one.
std::optional<OnDevice> selected_device(const autotune_kernel& kernel) {
  using Selected = std::optional<OnDevice>;
  return kernel.ordinal ? Selected(std::in_place, *kernel.ordinal) : Selected();
}

/// Opens the vendor's library where it was measured to be faster. If that fails, keeps the reason
/// as a sentence.
void open_baseline(const Target& target, const Problem& problem, std::string_view name,
                   autotune_kernel& kernel) {
  kernel.baseline_name = name;
  if (!kernel.ordinal && !kernel.is_for_host) {
    return give_up(kernel, "there is no GPU here to call it on");
  }
  try {
    const auto on_device = selected_device(kernel);
    Workload workload;
    workload.problem = problem.text_with_free();
    workload.buffers = kernel.buffers;
    workload.scalars = kernel.scalars;
    kernel.baseline = std::make_unique<BaselineCall>(
        name, target.name, workload, runtime_plugin_folders(),
        kernel.ordinal ? DeviceKind::cuda : DeviceKind::host, !problem.free.empty());
    kernel.engine = AUTOTUNE_VENDOR_LIBRARY;
  } catch (const std::exception& error) {
    give_up(kernel, error.what());
  }
}

/// False if the library fails, or failed before.
bool launch_baseline(autotune_kernel& kernel, std::span<void* const> buffers,
                     std::span<const Scalar> scalars, void* stream) {
  if (kernel.engine.load(std::memory_order_acquire) != AUTOTUNE_VENDOR_LIBRARY) return false;
  const auto on_device = selected_device(kernel);
  try {
    const RelaxedCapture relaxed;  // the first call loads
    kernel.baseline->launch(buffers, scalars, stream);
    return true;
  } catch (const std::exception& error) {
    if (kernel.ordinal && is_capture_broken(stream))
      throw;  // the capture is to blame, perhaps not the library
    give_up(kernel, error.what());
    return false;
  }
}

/// The kernel or the library that the handle's lock names, and nothing else.
std::unique_ptr<autotune_kernel> locked_kernel(autotune_handle& handle, const Problem& problem,
                                               const LookupAnswer& answer) {
  const TargetLookup& lookup = handle.lookup;
  auto kernel = planned(handle, problem, answer.configuration);
  if (!answer.configuration.empty()) {
    kernel->compiled.binary = lookup.lock()->kernels[answer.locked->kernel].binary;
    kernel->early_start = early_start_of(handle, answer);
    if (is_on_host(handle)) load_on_host(handle, *kernel);
    return kernel;
  }
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(format("{}: {} answers for {}, and it cannot be used: {}",
                                    lookup.lock()->path.string(), answer.baseline,
                                    problem_text(lookup.target(), problem), why));
  };
  if (handle.tuned_only) refuse("autotune_options.tuned_only forbids it");
  if (handle.calls_library) refuse("the program calls it itself (autotune_options.library)");
  open_baseline(lookup.target(), problem, answer.baseline, *kernel);
  if (!kernel->baseline) refuse(kernel->why_missing);
  return kernel;
}

bool has_constant_work(const LaunchPlan& plan) {
  const auto is_empty = [](const Launch& launch) { return launch.with_constant.empty(); };
  return !std::ranges::all_of(plan.launches, is_empty);
}

void launch_kernel(autotune_kernel& kernel, std::span<void* const> buffers,
                   std::span<const Scalar> scalars, void* stream) {
  std::call_once(kernel.loaded, [&] {
    const RelaxedCapture relaxed;
    if (!kernel.compiled.binary) throw std::runtime_error(kernel.why_missing);
    kernel.prepared = std::make_unique<PreparedKernel>(
        *kernel.ordinal, *kernel.compiled.binary, kernel.plan, kernel.buffers, kernel.early_start);
  });
  if (!has_constant_work(kernel.plan)) return kernel.prepared->launch(buffers, scalars, stream);
  kernel.constant.launch(
      buffers,
      [&] {
        const OnDevice on_device(*kernel.ordinal);
        return !is_captured(stream);
      },
      [&](const ConstantBuffer::Call& call) {
        kernel.prepared->launch(buffers, scalars, stream, call.constant, call.workspace);
      });
}

void launch_either(autotune_kernel& kernel, std::span<void* const> buffers,
                   std::span<const Scalar> scalars, void* stream) {
  const bool has_both = kernel.earned && kernel.baseline &&
                        kernel.engine.load(std::memory_order_acquire) == AUTOTUNE_VENDOR_LIBRARY;
  const Earning::Turn turn =
      has_both ? kernel.earned->begin(stream) : Earning::Turn{Way::library, false};
  const bool is_baseline =
      turn.way == Way::library && launch_baseline(kernel, buffers, scalars, stream);
  if (!is_baseline) launch_kernel(kernel, buffers, scalars, stream);
  if (turn.is_timed) kernel.earned->end(stream, is_baseline == (turn.way == Way::library));
}

void launch_on_host(autotune_kernel& kernel, std::span<void* const> buffers,
                    std::span<const Scalar> scalars) {
  if (launch_baseline(kernel, buffers, scalars, nullptr)) return;
  if (!kernel.on_host) throw std::runtime_error(kernel.why_missing);
  kernel.constant.launch(
      buffers, [] { return true; },
      [&](const std::string& constant) { kernel.on_host->launch(buffers, scalars, constant); });
}

/// What the calls of a kernel found.
db::DecisionRow row_of(const Earning& earning, const std::string& configuration,
                       std::string_view library) {
  db::DecisionRow row;
  row.provenance = "in use";
  row.configuration = configuration;
  static_cast<db::Times&>(row) = times_of(earning.kernel());
  row.created_at = db::now_text();
  const db::Times times = times_of(earning.library());
  const std::size_t blank = std::min(library.find(' '), library.size());
  row.baseline = {std::string(library.substr(0, blank)),
                  std::string(library.substr(std::min(blank + 1, library.size()))),
                  times.median_ns,
                  times.low_ns,
                  times.high_ns,
                  earning.serves() == Way::library};
  return row;
}

/// Keeps it for later look-ups of this process, and stores it without making the program wait. No
/// result is stored for free sizes away from their defaults.
void keep(autotune_handle& handle, TargetLookup& lookup, std::span<const std::int64_t> sizes,
          const db::DecisionRow& row) {
  lookup.keep_found(sizes, row);
  const Problem problem = lookup.problem_for(sizes);
  if (!problem.free.empty()) return;
  const auto store = [&handle, &lookup, row, problem] {
    try {
      db::SessionRow session;
      session.command = "autotune_launch()";
      session.strategy = "in use";
      store_found(handle.database, lookup, problem, session, row);
    } catch (const std::exception& error) {
      lookup.warn(format("what calls of {} found is not stored: {}", problem.text(), error.what()));
    }
  };
  const std::lock_guard lock(handle.storing);
  std::erase_if(handle.stores, [](const auto& one) { return one->have_ended(); });
  handle.stores.push_back(
      std::make_unique<BackgroundTasks>(std::vector<std::function<void()>>{store}));
}

/// Lets the calls of the kernel find out whether it or the library is faster, if that is open.
void set_up_earning(autotune_handle& handle, TargetLookup& lookup, const Problem& problem,
                    std::span<const std::int64_t> sizes, const LookupAnswer& answer,
                    autotune_kernel& kernel) {
  const bool is_chosen = kernel.configuration == answer.configuration;
  if (!handle.earns || handle.tuned_only || !answer.is_open() || !is_chosen) return;
  std::string library(answer.baseline);
  if (library.empty()) library = lookup.library(sizes);
  if (library.empty()) return;
  if (!handle.calls_library && !kernel.baseline) {
    open_baseline(lookup.target(), problem, library, kernel);
  }
  if (!handle.calls_library && !kernel.baseline) return;
  const Way serves = answer.baseline.empty() ? Way::kernel : Way::library;
  const Earning::Expected expected{answer.expected_ns * 1e-9, answer.baseline_ns * 1e-9};
  kernel.earned = std::make_unique<EarnedCalls>(
      Earning(serves, expected), [ordinal = *handle.ordinal] { return make_call_timer(ordinal); },
      [&handle, &lookup, library, configuration = kernel.configuration,
       sizes = std::vector(sizes.begin(), sizes.end())](const Earning& earning) {
        keep(handle, lookup, sizes, row_of(earning, configuration, library));
      });
}

/// A kernel that reads 16 bytes at once ends the program's context at any other address.
void check_alignment(const std::vector<BufferSpec>& specs, std::span<void* const> buffers) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(buffers[i]);
    const auto alignment = static_cast<std::uintptr_t>(specs[i].alignment);
    if (alignment < 2 || address % alignment == 0) continue;
    throw UsageError(
        format("the address of {} is {:#x}, and must be a multiple of {} bytes, as its target's "
               "manifest says; copy the array to one that is",
               specs[i].name, address, alignment));
  }
}

void launch(autotune_kernel& kernel, std::span<void* const> buffers,
            std::span<const Scalar> scalars, void* stream) {
  check_alignment(kernel.buffers, buffers);
  if (kernel.is_for_host) return launch_on_host(kernel, buffers, scalars);
  if (!kernel.ordinal) throw NoDevice("there is no GPU here to launch on");
  try {
    launch_either(kernel, buffers, scalars, stream);
  } catch (const std::exception& error) {
    const OnDevice on_device(*kernel.ordinal, std::nothrow);
    if (!is_capture_broken(stream)) throw;
    throw std::runtime_error(
        format("the capture of this stream into a graph is broken ({}): prepare this kernel and "
               "launch it once before the capture, and capture again",
               error.what()));
  }
}

}  // namespace

extern "C" {

autotune_status autotune_prepare(autotune_handle* handle, const int64_t* sizes, size_t count,
                                 autotune_kernel** kernel) {
  return guarded([&] {
    require(handle && sizes && kernel, "autotune_prepare needs a handle, sizes and a kernel");
    const RelaxedCapture relaxed;
    const CallSizes all(*handle, sizes, count);
    if (handle->first_use) {
      const OnDevice on_device(*handle->ordinal);
      // Results belong to the default free sizes.
      handle->first_use->settle(handle->lookup, key_of(handle->lookup.target(), all));
    }
    TargetLookup& lookup = handle->lookup;
    const Problem problem = lookup.problem_for(all);
    const LookupAnswer answer = lookup.find(all);
    if (answer.is_locked) {
      *kernel = locked_kernel(*handle, problem, answer).release();
      return;
    }
    const std::string first(answer.configuration);
    auto made = compile(*handle, lookup, problem, first);
    if (made->compiled.outcome != Outcome::ok) {
      const std::string fallback = lookup.default_for(all);
      if (fallback != first) made = compile(*handle, lookup, problem, fallback);
    }
    if (made->compiled.outcome != Outcome::ok) {
      throw std::runtime_error(format("{} {} does not compile: {}",
                                      problem_text(lookup.target(), problem), made->configuration,
                                      first_error(made->compiled.log)));
    }
    made->early_start = early_start_of(*handle, answer);
    if (is_on_host(*handle)) load_on_host(*handle, *made);
    if (!handle->tuned_only && !handle->calls_library) {
      std::string library(answer.baseline);
      // What replaces a configuration that does not compile was not compared with the library.
      const bool is_replaced = made->configuration != first;
      if (library.empty() && is_replaced) library = lookup.library(all);
      if (!library.empty()) open_baseline(lookup.target(), problem, library, *made);
    }
    set_up_earning(*handle, lookup, problem, all, answer, *made);
    *kernel = made.release();
  });
}

void autotune_release(autotune_kernel* kernel) {
  const RelaxedCapture relaxed;
  std::optional<OnDevice> on_device;
  if (kernel && kernel->baseline && kernel->ordinal)
    on_device.emplace(*kernel->ordinal, std::nothrow);
  delete kernel;
}

void autotune_stop_compiling(void) { stop_nvrtc(); }

autotune_engine autotune_kernel_engine(const autotune_kernel* kernel, const char** text) {
  autotune_engine engine =
      kernel ? kernel->engine.load(std::memory_order_acquire) : AUTOTUNE_TUNED_KERNEL;
  const bool has_both = engine == AUTOTUNE_VENDOR_LIBRARY && kernel->earned;
  if (has_both && kernel->earned->serves() == Way::kernel) engine = AUTOTUNE_TUNED_KERNEL;
  if (text) {
    *text = engine == AUTOTUNE_VENDOR_LIBRARY   ? kernel->baseline_name.c_str()
            : engine == AUTOTUNE_VENDOR_MISSING ? kernel->why_missing.c_str()
                                                : "";
  }
  return engine;
}

const char* autotune_kernel_configuration(const autotune_kernel* kernel) {
  return kernel ? kernel->configuration.c_str() : "";
}

const void* autotune_kernel_binary(const autotune_kernel* kernel, size_t* bytes) {
  const std::string* const binary = kernel ? kernel->compiled.binary.get() : nullptr;
  if (bytes) *bytes = binary ? binary->size() : 0;
  return binary ? binary->data() : nullptr;
}

size_t autotune_kernel_launches(const autotune_kernel* kernel) {
  return kernel ? kernel->plan.launches.size() : 0;
}

autotune_status autotune_kernel_geometry(const autotune_kernel* kernel, size_t index,
                                         autotune_geometry* geometry) {
  return guarded([&] {
    require(kernel && geometry && geometry->size >= sizeof(autotune_geometry) &&
                index < kernel->plan.launches.size(),
            "autotune_kernel_geometry needs a kernel, one of its launches, and a geometry whose "
            "size is set");
    const Launch& launch = kernel->plan.launches[index];
    const auto copy = [](const Dim3& from, uint32_t(&to)[3]) {
      to[0] = static_cast<uint32_t>(from.x);
      to[1] = static_cast<uint32_t>(from.y);
      to[2] = static_cast<uint32_t>(from.z);
    };
    geometry->entry = launch.entry.c_str();
    copy(launch.grid, geometry->grid);
    copy(launch.block, geometry->block);
    copy(launch.cluster, geometry->cluster);
    geometry->dynamic_shared_bytes = static_cast<uint64_t>(launch.dynamic_shared_bytes);
  });
}

size_t autotune_kernel_buffers(const autotune_kernel* kernel) {
  return kernel ? kernel->buffers.size() : 0;
}

const char* autotune_kernel_buffer(const autotune_kernel* kernel, size_t index, uint64_t* bytes) {
  const bool known = kernel && index < kernel->buffers.size();
  if (bytes) *bytes = known ? static_cast<uint64_t>(kernel->buffers[index].bytes()) : 0;
  return known ? kernel->buffers[index].name.c_str() : "";
}

autotune_status autotune_describe_buffer(const autotune_kernel* kernel, size_t index,
                                         autotune_buffer* buffer) {
  return guarded([&] {
    require(kernel && buffer && buffer->size >= sizeof(autotune_buffer) &&
                index < kernel->buffers.size(),
            "autotune_describe_buffer needs a kernel, the index of one of its buffers, and a "
            "buffer whose size is set");
    const BufferSpec& spec = kernel->buffers[index];
    buffer->name = spec.name.c_str();
    buffer->type = spec.members.empty() ? name_of(spec.type).data() : "struct";
    buffer->use = use_of(spec.role);
    buffer->length = static_cast<uint64_t>(spec.length);
  });
}

uint64_t autotune_kernel_workspace(const autotune_kernel* kernel) {
  uint64_t bytes = 0;
  if (!kernel) return bytes;
  for (const BufferSpec& spec : kernel->plan.workspace)
    bytes += static_cast<uint64_t>(spec.bytes());
  return bytes;
}

size_t autotune_kernel_scalars(const autotune_kernel* kernel) {
  return kernel ? kernel->scalars.size() : 0;
}

const char* autotune_kernel_scalar(const autotune_kernel* kernel, size_t index, double* value) {
  const bool known = kernel && index < kernel->scalars.size();
  if (value) *value = known ? value_of(kernel->scalars[index]) : 0;
  return known ? kernel->scalars[index].name.c_str() : "";
}

autotune_status autotune_launch(autotune_kernel* kernel, void* const* buffers, size_t count,
                                void* stream) {
  return guarded([&] {
    require(kernel && buffers && count == kernel->buffers.size(),
            "autotune_launch needs a kernel and an address for each of its buffers");
    launch(*kernel, {buffers, count}, kernel->scalars, stream);
  });
}

autotune_status autotune_launch_with(autotune_kernel* kernel, void* const* buffers, size_t count,
                                     const double* scalars, size_t scalar_count, void* stream) {
  return guarded([&] {
    require(
        kernel && buffers && count == kernel->buffers.size() &&
            scalar_count == kernel->scalars.size() && (scalars || scalar_count == 0),
        "autotune_launch_with needs a kernel, an address for each of its buffers and a value for "
        "each of its scalars");
    std::vector<Scalar> values;
    for (std::size_t i = 0; i < scalar_count; ++i) {
      values.push_back(with_value(kernel->scalars[i], scalars[i]));
    }
    launch(*kernel, {buffers, count}, values, stream);
  });
}

int32_t autotune_kernel_earns(const autotune_kernel* kernel) {
  return kernel && kernel->earned ? 1 : 0;
}

autotune_engine autotune_begin_call(autotune_kernel* kernel, void* stream, int32_t* is_timed) {
  if (is_timed) *is_timed = 0;
  if (!kernel || !kernel->earned || !is_timed) return AUTOTUNE_TUNED_KERNEL;
  const Earning::Turn turn = kernel->earned->begin(stream);
  *is_timed = turn.is_timed ? 1 : 0;
  return turn.way == Way::kernel ? AUTOTUNE_TUNED_KERNEL : AUTOTUNE_VENDOR_LIBRARY;
}

void autotune_end_call(autotune_kernel* kernel, void* stream, int32_t has_run) {
  if (kernel && kernel->earned) kernel->earned->end(stream, has_run != 0);
}

autotune_status autotune_hold_constant(autotune_kernel* kernel, const char* name) {
  return guarded([&] {
    require(kernel, "autotune_hold_constant needs a kernel");
    if (!name) return kernel->constant.hold("", 0);
    const auto found = std::ranges::find(kernel->buffers, name, &BufferSpec::name);
    if (found == kernel->buffers.end()) {
      throw UsageError(
          format("the kernel has no buffer {}; autotune_kernel_buffer() has their names", name));
    }
    if (found->role != Role::input) {
      throw UsageError(format("{} is written, so its contents cannot stay the same", name));
    }
    kernel->constant.hold(name, static_cast<std::size_t>(found - kernel->buffers.begin()));
  });
}

autotune_status autotune_invalidate(autotune_kernel* kernel) {
  return guarded([&] {
    require(kernel, "autotune_invalidate needs a kernel");
    kernel->constant.invalidate();
  });
}

}  // extern "C"
