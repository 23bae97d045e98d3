// SPDX-License-Identifier: Apache-2.0
// Two targets that compute the same from the same buffers, such as gemm and gemm_split. A lookup
// answers with the one that was measured to be faster.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tuner/runtime/target_lookup.hpp"

namespace autotune {

/// Opens a lookup of `target` in these layers, on the device and with the policy of `own`. It gets
/// those of the settings that it has. Throws UsageError if its sizes, buffers or scalars differ
/// from those of `own`.
std::unique_ptr<TargetLookup> open_alternative(const TargetLookup& own, Target target,
                                               const NamedValues& settings,
                                               std::vector<db::Layer> layers);

/// Returns `other` if it was measured for exactly these sizes, and is faster than the answer of
/// `own` or `own` was not measured for them. Else, or if `own` has a pin, returns `own`. `other`
/// may be null.
TargetLookup& faster_of(TargetLookup& own, TargetLookup* other,
                        std::span<const std::int64_t> sizes);

}  // namespace autotune
