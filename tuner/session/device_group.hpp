// SPDX-License-Identifier: Apache-2.0
// One run on several devices. They share problems and configurations.
#pragma once

#include <memory>
#include <span>

#include "tuner/session/tuning_session.hpp"

namespace autotune {

/// As tune(), with each problem on whichever device is free. A device without a problem of its own
/// helps another, if the default configuration takes the same time on both, to within
/// `Policy::devices_alike`. Its times are scaled by the difference. Otherwise it tunes its own
/// problems only, and a warning says so. The playoff runs on one device.
///
/// A device that throws Error drops out with a warning. Problems that it helped with continue. Its
/// own problem is tuned again from the start on another device. The run ends with that Error if two
/// devices fail at one problem, or if the last device fails.
///
/// Reports come in the order of the request. An interrupted run reports the problems that were
/// begun. Callbacks come from any thread, one at a time. stop_requested must be thread-safe.
TuningReport tune_on_all(const Target& target, std::span<const std::unique_ptr<Device>> devices,
                         db::TunedStore* store, const TuningRequest& request,
                         const TuningCallbacks& callbacks = {});

}  // namespace autotune
