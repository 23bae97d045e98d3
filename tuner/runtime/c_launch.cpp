// SPDX-License-Identifier: Apache-2.0
// The C API's launches: of the kernel, or of the library that answers in its place.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tuner/core/launch.hpp"
#include "tuner/gpu/on_device.hpp"
#include "tuner/runtime/c_handle.hpp"
#include "tuner/text/format.hpp"

using namespace autotune;
using namespace autotune::c_boundary;

namespace {

/// False if the library fails, or failed before.
bool launch_baseline(autotune_kernel& kernel, std::span<void* const> buffers,
                     std::span<const Scalar> scalars, void* stream) {
  if (kernel.engine.load(std::memory_order_acquire) != AUTOTUNE_VENDOR_LIBRARY) return false;
  const auto on_device = kernel.selected_gpu();
  try {
    const RelaxedCapture relaxed;  // the first call loads
    kernel.baseline->launch(buffers, scalars, stream);
    return true;
  } catch (const std::exception& error) {
    if (kernel.ordinal && is_capture_broken(stream))
      throw;  // the capture is to blame, perhaps not the library
    kernel.give_up(error.what());
    return false;
  }
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
