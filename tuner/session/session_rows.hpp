// SPDX-License-Identifier: Apache-2.0
// The rows that all trials of one session refer to.
#pragma once

#include <string>

#include "db/store.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {

/// Their ids; empty without a store.
struct SessionRows {
  std::string session, device, kernel;
};

/// Stores them, after the trials that killed processes left behind. `store` may be null. Times of a
/// session are of one device.
SessionRows begin_session(db::TunedStore* store, const Target& target, const Device& device,
                          const TuningRequest& request);

}  // namespace autotune
