// SPDX-License-Identifier: Apache-2.0
// Converts trials, devices and targets to database rows and back. Rows have nanoseconds, all else
// seconds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/trial.hpp"

namespace autotune {

/// Trials that were not timed for the same reason. Reasons that differ only in numbers count as the
/// same.
struct Reason {
  std::string outcome, example;
  std::vector<std::size_t> trials;  // their indices
  int count() const { return static_cast<int>(trials.size()); }
};

/// How a trial ended: the name of its outcome, and why.
struct Ending {
  std::string_view outcome, message;
};

/// Most frequent first.
std::vector<Reason> reasons_of(std::span<const Ending> endings);
std::vector<Reason> reasons_of(const std::vector<db::TrialRow>& trials);

/// Explains a trial's short message.
std::string_view meaning_of(std::string_view message);

db::DeviceRow device_row(const DeviceInfo& info);
/// The device of a row. Limits that the row lacks come from the table of GPUs, else from the
/// architecture, else from any CPU.
DeviceInfo device_of(const db::DeviceRow& row);
db::KernelRow kernel_row(const Target& target);

/// Median, interval and number of samples.
db::Times times_of(const Measurement& times);
/// The inverse of times_of(). `row.median_ns` is set; a missing bound is the median.
Measurement measurement_of(const db::Times& row);
/// `2.866 ms, 2.879 ms`; with fewer samples than 95 % need, `2.866 ms, 2.879 ms: 50 % confidence`.
std::string interval_text(const Measurement& times);

/// A row without session, key and time of day, which the caller sets. `flops` per call; 0: unknown.
db::TrialRow trial_row(const Trial& trial, double flops);

/// The best, the default and the ties of a result, each once, in this order.
std::vector<std::string> finalists_of(const db::BestRow& best);

/// Says whether verified runs on the same inputs gave the same bits.
std::string_view bits_text(bool repeats);

/// The problem with M=1: a reduction class holds for every M.
Problem for_every_row(Problem problem);
/// The reduction class of the best configuration's build; empty if it is not stored. Throws
/// StoreError.
std::string class_of(const db::TunedStore& store, const db::BestRow& best);

/// The inverse of trial_row().
Trial trial_of(const db::TrialRow& row);

}  // namespace autotune
