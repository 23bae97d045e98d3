// SPDX-License-Identifier: Apache-2.0
// One run on several devices at once: a worker a GPU, problems and configurations shared.
#pragma once

#include <memory>
#include <span>

#include "tuner/session/tuning_session.hpp"

namespace autotune {

/// As tune(), with each problem on whichever device is free. A device that finds none waiting helps
/// with the configurations of one that is being tuned: only where the default configuration takes
/// both devices as long, to within the policy's bound, and with times scaled by what it takes on
/// each; else they share problems only, and a warning says so. The playoff is on one device.
///
/// A device that throws Error drops out with a warning. What it helped with goes on; its own
/// problem another tunes from the start; a problem at which two devices fail, or the failure of the
/// last device, ends the run with that Error. Reports come in the order of the request; a run that
/// was interrupted has those that were begun. Callbacks come from any thread, one at a time;
/// stop_requested is to be safe from all.
TuningReport tune_on_all(const Target& target, std::span<const std::unique_ptr<Device>> devices,
                         db::TunedStore* store, const TuningRequest& request,
                         const TuningCallbacks& callbacks = {});

}  // namespace autotune
