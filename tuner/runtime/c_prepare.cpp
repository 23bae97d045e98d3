// SPDX-License-Identifier: Apache-2.0
// The C API's autotune_prepare(): compiles and loads what answers, and lets its calls earn.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/core/launch.hpp"
#include "tuner/core/launch_planner.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/gpu/on_device.hpp"
#include "tuner/host/host_compiler.hpp"
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

/// Opens the vendor's library where it was measured to be faster. If that fails, keeps the reason
/// as a sentence.
void open_baseline(const Target& target, const Problem& problem, std::string_view name,
                   autotune_kernel& kernel) {
  kernel.baseline_name = name;
  if (!kernel.ordinal && !kernel.is_for_host) {
    return kernel.give_up("there is no GPU here to call it on");
  }
  try {
    const auto on_device = kernel.selected_gpu();
    Workload workload;
    workload.problem = problem.text_with_free();
    workload.buffers = kernel.buffers;
    workload.scalars = kernel.scalars;
    kernel.baseline = std::make_unique<BaselineCall>(
        name, target.name, workload, runtime_plugin_folders(),
        kernel.ordinal ? DeviceKind::cuda : DeviceKind::host, !problem.free.empty());
    kernel.engine = AUTOTUNE_VENDOR_LIBRARY;
  } catch (const std::exception& error) {
    kernel.give_up(error.what());
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

}  // extern "C"
