// SPDX-License-Identifier: Apache-2.0
// When two versions of a target are the same, as far as results go.
#pragma once

#include <string>

#include "tuner/core/target.hpp"
#include "tuner/json/json.hpp"

namespace autotune {

/// Hash of the manifest's keys that change what runs (not the description, the estimates or the
/// default), of the source, and of every file that it includes from its include folders or those of
/// its options, at any depth.
std::string fingerprint_of(const Json& manifest, const Target& target);

}  // namespace autotune
