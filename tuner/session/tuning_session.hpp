// SPDX-License-Identifier: Apache-2.0
// One run over the problems of a target, on one device or on several.
#pragma once

#include <memory>
#include <span>

#include "db/store.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {

/// Tunes every problem of the request. Stores each trial before the strategy gets it. A failing
/// configuration is a trial. Throws Error if memory, the database or the device fails. `store` may
/// be null: nothing is kept.
///
/// Each problem is tuned on whichever device is free. A device without a problem of its own helps
/// another, if the default configuration takes the same time on both, to within
/// `Policy::devices_alike`. Its times are scaled by the difference. Otherwise it tunes its own
/// problems only, and a warning says so. The playoff runs on one device.
///
/// A device that throws Error drops out with a warning. Problems that it helped with continue. Its
/// own problem is tuned again from the start on another device. The run ends with that Error if two
/// devices fail at one problem, or if the last device fails.
///
/// Reports come in the order of the request. An interrupted run reports the problems that were
/// begun.
TuningReport tune(const Target& target, std::span<const std::unique_ptr<Device>> devices,
                  db::TunedStore* store, const TuningRequest& request,
                  const TuningCallbacks& callbacks = {});

/// The same on one device.
TuningReport tune(const Target& target, Device& device, db::TunedStore* store,
                  const TuningRequest& request, const TuningCallbacks& callbacks = {});

}  // namespace autotune
