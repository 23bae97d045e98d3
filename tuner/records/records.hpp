// SPDX-License-Identifier: Apache-2.0
// Trials, devices and targets as rows of the database, and back. Seconds here, nanoseconds there.
#pragma once

#include "db/rows.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/trial.hpp"

namespace autotune {

db::DeviceRow device_row(const DeviceInfo& info);
/// The device as far as its row tells; what a kernel may use of it is what the table of GPUs says,
/// else what its architecture allows, else what any CPU does.
DeviceInfo device_of(const db::DeviceRow& row);
db::KernelRow kernel_row(const Target& target);

/// Median, interval and number of samples.
db::Times times_of(const Measurement& times);
/// What times_of() wrote, read back. `row.median_ns` is there; a bound that is missing is the
/// median.
Measurement measurement_of(const db::Times& row);

/// Without session, key and time of day, which the caller fills in. `flops` of one call; 0 when
/// unknown.
db::TrialRow trial_row(const Trial& trial, double flops);

/// What trial_row() wrote, read back.
Trial trial_of(const db::TrialRow& row);

}  // namespace autotune
