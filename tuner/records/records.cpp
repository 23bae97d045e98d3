// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/records.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>

#include "tuner/core/error.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

std::size_t end_of_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

/// The end of a number at `at`: `12`, `-0.5`, `4.5e-3` or `0xc000`; `at` itself if there is none.
std::size_t end_of_figure(std::string_view text, std::size_t at) {
  const std::size_t first = at + (text[at] == '-');
  std::size_t end = end_of_digits(text, first);
  if (end == first) return at;
  if (text.substr(first).starts_with("0x")) {
    return std::min(text.find_first_not_of("0123456789abcdefABCDEF", first + 2), text.size());
  }
  const auto take_if_digits = [&](std::size_t from) {
    const std::size_t after = end_of_digits(text, from);
    if (after > from) end = after;
  };
  if (text.substr(end).starts_with('.')) take_if_digits(end + 1);
  if (text.substr(end).starts_with("e-") || text.substr(end).starts_with("e+")) {
    take_if_digits(end + 2);
  }
  return end;
}

/// The message without its numbers: `12 KiB over` and `48 KiB over` are one reason.
std::string without_figures(std::string_view text) {
  std::string pattern;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = end_of_figure(text, i);
    pattern += end > i ? '#' : text[i];
    i = std::max(end, i + 1);
  }
  return pattern;
}

}  // namespace

std::vector<Reason> reasons_of(std::span<const Ending> endings) {
  std::map<std::string, Reason> by_pattern;
  for (std::size_t i = 0; i < endings.size(); ++i) {
    const Ending& ending = endings[i];
    if (ending.outcome == "ok") continue;
    Reason& reason = by_pattern[std::string(ending.outcome) + without_figures(ending.message)];
    reason.outcome = ending.outcome;
    if (reason.trials.empty()) reason.example = ending.message;
    reason.trials.push_back(i);
  }
  std::vector<Reason> reasons;
  for (const auto& [pattern, reason] : by_pattern) reasons.push_back(reason);
  std::ranges::stable_sort(reasons, std::greater(), &Reason::count);
  return reasons;
}

std::vector<Reason> reasons_of(const std::vector<db::TrialRow>& trials) {
  std::vector<Ending> endings;
  for (const db::TrialRow& trial : trials) endings.push_back({trial.outcome, trial.message});
  return reasons_of(endings);
}

std::string_view meaning_of(std::string_view message) {
  if (message == "screened") return "far slower than the best so far";
  if (message == "outrun") return "slower than the best so far; timing stopped early";
  return message;
}

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

Problem for_every_row(Problem problem) {
  for (NamedValue& value : problem.values) {
    if (value.name == "M") value.value = std::int64_t{1};
  }
  return problem;
}

std::string class_of(const db::TunedStore& store, const db::BestRow& best) {
  db::ProblemKey key = best.key;
  key.problem = for_every_row({parse_named_values(key.problem)}).text();
  key.policy.clear();
  for (const db::ReductionClassRow& row : db::classes_of(store, key)) {
    const bool is_this_build = best.binary_key.empty() || row.binary_key == best.binary_key;
    if (row.configuration == best.configuration && is_this_build) return row.bits;
  }
  return "";
}

}  // namespace autotune
