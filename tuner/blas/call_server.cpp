// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/call_server.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "tuner/blas/call_table.hpp"
#include "tuner/blas/options.hpp"
#include "tuner/blas/serving_kernel.hpp"

namespace autotune::blas {
namespace {

Scale scale_of(float alpha, float beta) {
  if (alpha == 0) return Scale::zero_alpha;
  if (beta != 0) return Scale::beta;
  return alpha == 1 ? Scale::none : Scale::alpha;
}

/// A kernel that fails is not launched again. If a capture is broken afterwards, the program may
/// have broken it before: from then on, no broken capture gets a launch that could be blamed.
Outcome launch(CallEntry& entry, const ServingKernel& kernel, const Call& call, Stream stream) {
  if (entry.is_suspected && is_capture_broken(stream)) return Outcome::failed;
  const Outcome outcome = kernel.launch(call.values, stream);
  if (outcome != Outcome::failed) return outcome;
  if (is_capture_broken(stream) && !entry.is_suspected.exchange(true)) return Outcome::failed;
  warn_once(Topic::kernel, runtime_library()->message());
  entry.why_not = Outcome::failed;
  entry.failed = &kernel;
  entry.kernel = nullptr;  // permanently
  return Outcome::failed;
}

/// The call of cuBLAS that this thread makes next, if it is timed.
struct TimedCall {
  const ServingKernel* kernel = nullptr;
  Stream stream = nullptr;
};
thread_local TimedCall timed_call [[gnu::tls_model("initial-exec")]];

/// By whichever is to run the call: the kernel, or cuBLAS.
Outcome launch_or_leave(CallEntry& entry, const ServingKernel& kernel, const Call& call,
                        Stream stream) {
  if (!kernel.earns()) return launch(entry, kernel, call, stream);
  bool is_timed = false;
  const bool is_left = kernel.leaves_to_vendor(stream, is_timed);
  if (is_left && is_timed) timed_call = {&kernel, stream};
  if (is_left) return Outcome::vendor_faster;
  const Outcome outcome = launch(entry, kernel, call, stream);
  if (is_timed) kernel.end_call(stream, outcome == Outcome::served);
  return outcome;
}

/// Requests the kernel of an entry at its first call. Never waits during a capture.
const ServingKernel* requested_kernel(CallEntry& entry, Stream stream) {
  const bool wait = options().wait;
  if (wait && may_be_captured(stream)) return nullptr;
  preparer().request(entry, wait);
  return entry.kernel.load(std::memory_order_acquire);
}

Outcome outcome_of(CallEntry& entry, const Call& call) {
  if (entry.contract != Outcome::served) return entry.contract;
  if (!options().serve) return Outcome::switched_off;
  if (entry.shape.device < 0) return Outcome::failed;
  const Outcome why_not = entry.why_not.load(std::memory_order_relaxed);
  if (!may_be_served(entry)) return why_not;
  const ServingKernel* kernel = entry.kernel.load(std::memory_order_acquire);
  Stream stream = call.stream;
  if (call.handle && !stream_of(*call.vendor, call.handle, stream)) return Outcome::failed;
  if (!kernel) kernel = requested_kernel(entry, stream);
  return kernel ? launch_or_leave(entry, *kernel, call, stream) : entry.why_not.load();
}

/// Adds a line to the file whenever a count doubles, so a crash loses at most half of the calls.
void count(CallEntry& entry, Outcome outcome) {
  if (!options().counts()) return;
  auto& counted = entry.counts[static_cast<std::size_t>(outcome)];
  const std::uint64_t calls = counted.fetch_add(1, std::memory_order_relaxed) + 1;
  if (std::has_single_bit(calls) && !options().record.empty()) record_calls(entry);
}

}  // namespace

CallTable& call_table() {
  static CallTable& table = []() -> CallTable& {
    notice_forks();
    return *new CallTable;  // used until the process ends
  }();
  return table;
}

Scale take_scalars(CallValues& values, int pointer_mode, const void* alpha,
                   const void* beta) noexcept {
  if (pointer_mode != kHostScalars || !alpha || !beta) return Scale::on_device;
  values.alpha = *static_cast<const float*>(alpha);
  values.beta = *static_cast<const float*>(beta);
  return scale_of(values.alpha, values.beta);
}

bool has_addresses(const CallValues& values) noexcept {
  return values.a && values.b && values.d && (values.c || values.beta == 0);
}

std::uint8_t alignment_of(const CallValues& values) noexcept {
  const auto bits = [](const void* address) { return reinterpret_cast<std::uintptr_t>(address); };
  const std::uintptr_t any = bits(values.a) | bits(values.b) | bits(values.c) | bits(values.d) |
                             bits(values.scale_a) | bits(values.scale_b) | 16;
  return static_cast<std::uint8_t>(std::uintptr_t{1} << std::countr_zero(any));
}

CallEntry* entry_of(CallShape shape) {
  if (is_forked()) return nullptr;
  shape.device = current_device();
  return call_table().find_or_add(shape);
}

bool may_be_served(const CallEntry& entry) noexcept {
  if (entry.contract != Outcome::served || !options().serve) return false;
  return entry.kernel.load(std::memory_order_acquire) ||
         !entry.is_requested.load(std::memory_order_relaxed);
}

bool serve(CallEntry* entry, const Call& call) noexcept try {
  if (!entry || is_forked()) return false;
  const Outcome outcome = outcome_of(*entry, call);
  count(*entry, outcome);
  return outcome == Outcome::served;
} catch (...) {
  return false;
}

void end_vendor_call(bool has_run) noexcept {
  const TimedCall timed = std::exchange(timed_call, {});
  if (timed.kernel) timed.kernel->end_call(timed.stream, has_run);
}

void finish() noexcept try {
  if (is_forked()) return;
  const std::vector<CallEntry*> entries = call_table().entries();
  if (!options().record.empty()) std::ranges::for_each(entries, [](auto* e) { record_calls(*e); });
  // Processes that the command starts are not worth a line if they call nothing.
  const bool is_reported = !entries.empty() || options().is_command;
  if (!options().report.empty() && is_reported) write_report(options().report, entries);
} catch (...) {  // out of memory at the end of the program
}

}  // namespace autotune::blas
