// SPDX-License-Identifier: Apache-2.0
// One run on several devices at once: a worker a GPU, one queue of problems.
#pragma once

#include <memory>
#include <span>

#include "tuner/session/tuning_session.hpp"

namespace autotune {

/// As tune(), with each problem on whichever device is free. From its first trial to its playoff a
/// problem stays on one device, so that times of different devices never meet in a decision. A
/// device that throws Error drops out with a warning, and another tunes its problem from the start;
/// a problem at which two devices fail, or the failure of the last device, ends the run with that
/// Error. Reports come in the order of the request; a run that was interrupted has those that were
/// begun. Callbacks come from any thread, one at a time; stop_requested is to be safe from all.
TuningReport tune_on_all(const Target& target, std::span<const std::unique_ptr<Device>> devices,
                         db::TunedStore* store, const TuningRequest& request,
                         const TuningCallbacks& callbacks = {});

}  // namespace autotune
