// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/records.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "tuner/core/error.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr double kNanoseconds = 1e9;

/// Limits of any CPU, as the host device has them.
constexpr std::int64_t kHostSharedBytes = 256 << 10;

std::optional<std::int64_t> known(std::int64_t value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

/// `1g.18gb` of `NVIDIA H200 MIG 1g.18gb`, as CUDA names a slice; empty for a whole GPU.
std::string mig_profile_of(const std::string& name) {
  constexpr std::string_view kMark = " MIG ";
  const std::size_t mark = name.rfind(kMark);
  return mark == std::string::npos ? "" : name.substr(mark + kMark.size());
}

/// The limits of a stored device: from the table of GPUs, else its architecture, else any CPU.
DeviceInfo limits_of(const db::DeviceRow& row) {
  DeviceInfo info;
  if (row.compute_capability == 0) {
    info.shared_bytes_per_block = info.shared_bytes_per_multiprocessor = kHostSharedBytes;
    return info;
  }
  try {
    return device_info(find_gpu(row.name));
  } catch (const Error&) {  // not in the table
  }
  try {
    GpuSpec spec;
    spec.sm = multiprocessor(static_cast<int>(row.compute_capability));
    return device_info(spec);
  } catch (const Error&) {  // newer than this program
    return info;
  }
}

}  // namespace

db::DeviceRow device_row(const DeviceInfo& info) {
  db::DeviceRow row;
  row.name = info.name;
  row.kind = name_of(info.kind);
  row.pci_id = info.id;
  row.compute_capability = info.compute_capability;
  row.multiprocessors = info.multiprocessors;
  row.l2_bytes = info.l2_bytes;
  row.memory_bytes = info.memory_bytes;
  row.mig_profile = mig_profile_of(info.name);
  return row;
}

DeviceInfo device_of(const db::DeviceRow& row) {
  DeviceInfo info = limits_of(row);
  info.name = row.name;
  for (const DeviceKind kind :
       {DeviceKind::cuda, DeviceKind::host, DeviceKind::model, DeviceKind::fake}) {
    if (name_of(kind) == row.kind) info.kind = kind;
  }
  info.id = row.pci_id;
  info.compute_capability = static_cast<int>(row.compute_capability);
  info.multiprocessors = static_cast<int>(row.multiprocessors);
  info.l2_bytes = row.l2_bytes;
  info.memory_bytes = row.memory_bytes;
  return info;
}

db::KernelRow kernel_row(const Target& target) {
  db::KernelRow row;
  row.target = target.name;
  row.fingerprint = target.fingerprint;
  for (const std::string& size : target.sizes) row.sizes += (row.sizes.empty() ? "" : " ") + size;
  return row;
}

db::Times times_of(const Measurement& times) {
  return {times.median * kNanoseconds, times.low * kNanoseconds, times.high * kNanoseconds,
          times.samples};
}

Measurement measurement_of(const db::Times& row) {
  Measurement times;
  times.median = *row.median_ns / kNanoseconds;
  times.low = row.low_ns.value_or(*row.median_ns) / kNanoseconds;
  times.high = row.high_ns.value_or(*row.median_ns) / kNanoseconds;
  times.samples = static_cast<int>(row.samples);
  return times;
}

std::string interval_text(const Measurement& times) {
  const std::string text = format("{}, {}", time_text(times.low), time_text(times.high));
  // Of baselines, and of some imported times, the samples are not known.
  if (times.samples == 0 || times.samples >= kFewestForInterval) return text;
  return format("{}: {:.3g} % confidence", text, 100 * interval_level(times.samples));
}

db::TrialRow trial_row(const Trial& trial, double flops) {
  db::TrialRow row;
  row.configuration = to_text(trial.configuration);
  row.outcome = name_of(trial.outcome);
  row.message = trial.message;
  if (trial.measurement) {
    const Measurement& times = *trial.measurement;
    static_cast<db::Times&>(row) = times_of(times);
    row.throttled = times.throttled;
    if (flops > 0 && times.median > 0) row.gflops = flops / times.median / 1e9;
  }
  if (trial.predicted_seconds) row.predicted_ns = *trial.predicted_seconds * kNanoseconds;
  row.registers = known(trial.registers);
  row.shared_bytes = known(trial.shared_bytes);
  row.local_bytes = known(trial.local_bytes);
  if (trial.occupancy >= 0) row.occupancy = trial.occupancy;
  row.compile_seconds = trial.compile_seconds;
  row.binary_key = trial.binary_key;
  row.verified = trial.verified;
  return row;
}

Trial trial_of(const db::TrialRow& row) {
  Trial trial;
  trial.configuration = parse_named_values(row.configuration);
  trial.outcome = outcome(row.outcome).value_or(Outcome::crash);
  trial.message = row.message;
  if (row.median_ns) {
    trial.measurement = measurement_of(row);
    trial.measurement->throttled = row.throttled;
  }
  if (row.predicted_ns) trial.predicted_seconds = *row.predicted_ns / kNanoseconds;
  trial.registers = static_cast<int>(row.registers.value_or(-1));
  trial.shared_bytes = row.shared_bytes.value_or(-1);
  trial.local_bytes = row.local_bytes.value_or(-1);
  trial.occupancy = row.occupancy.value_or(-1);
  trial.compile_seconds = row.compile_seconds;
  trial.binary_key = row.binary_key;
  trial.verified = row.verified;
  return trial;
}

std::vector<std::string> finalists_of(const db::BestRow& best) {
  std::vector<std::string> finalists{best.configuration};
  const auto add = [&](const std::string& configuration) {
    const bool is_new =
        !configuration.empty() && std::ranges::find(finalists, configuration) == finalists.end();
    if (is_new) finalists.push_back(configuration);
  };
  add(best.default_configuration);
  std::istringstream ties(best.ties);
  for (std::string tie; std::getline(ties, tie);) add(tie);
  return finalists;
}

std::string_view bits_text(bool repeats) {
  return repeats ? "every run gave the same bits"
                 : "bits differ from run to run, each time within the tolerance";
}

}  // namespace autotune
