// SPDX-License-Identifier: Apache-2.0
// A device's calibration, measured once and stored in the database.
#pragma once

#include "db/store.hpp"
#include "tuner/core/device.hpp"
#include "tuner/model/calibration.hpp"

namespace autotune {

/// The stored figures of this device. Missing ones have their default.
Calibration stored_calibration(const db::TunedStore& store, const DeviceInfo& info);

/// Whether calibration_of() measures, which takes seconds. `store` may be null.
bool needs_calibration(const db::TunedStore* store, const Device& device);

/// Stored figures. If a CUDA device has none, they are measured and stored first. `store` may be
/// null. If calibration fails, the defaults are used.
Calibration calibration_of(db::TunedStore* store, Device& device);

}  // namespace autotune
