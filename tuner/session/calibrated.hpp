// SPDX-License-Identifier: Apache-2.0
// A device's calibration, measured once and kept with it in the database.
#pragma once

#include "db/store.hpp"
#include "tuner/core/device.hpp"
#include "tuner/model/calibration.hpp"

namespace autotune {

/// What the database has of this device; the defaults for what it has not.
Calibration stored_calibration(const db::TunedStore& store, const DeviceInfo& info);

/// The same, measured and stored first where a CUDA device has none; `store` may be null. Never
/// fails for want of a calibration: the defaults stand in.
Calibration calibration_of(db::TunedStore* store, Device& device);

}  // namespace autotune
