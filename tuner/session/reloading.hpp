// SPDX-License-Identifier: Apache-2.0
// A configuration that ran before is loaded on new buffers, where loading may fail.
#pragma once

#include <functional>
#include <memory>

#include "tuner/core/device.hpp"

namespace autotune {

/// What `load` returns. Where it throws KernelFailure: a candidate of which every call throws the
/// same, so that a playoff loses this finalist only.
std::unique_ptr<Candidate> reloaded(const std::function<std::unique_ptr<Candidate>()>& load);

}  // namespace autotune
