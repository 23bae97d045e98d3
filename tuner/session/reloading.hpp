// SPDX-License-Identifier: Apache-2.0
// Loads a configuration again on new buffers.
#pragma once

#include <functional>
#include <memory>

#include "tuner/core/device.hpp"

namespace autotune {

/// Returns the result of `load`. If `load` throws KernelFailure, returns a candidate that throws
/// the same at every call. A playoff then loses this finalist only.
std::unique_ptr<Candidate> reloaded(const std::function<std::unique_ptr<Candidate>()>& load);

}  // namespace autotune
