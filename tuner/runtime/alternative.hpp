// SPDX-License-Identifier: Apache-2.0
// Two targets that compute the same from the same buffers, such as gemm and gemm_split: a look-up
// answers with the one that was measured to be faster.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tuner/runtime/target_lookup.hpp"

namespace autotune {

/// The look-up of `target` beside `own`, with those of the settings that it has. Throws UsageError
/// if its sizes, buffers or scalars are others than those of `own`.
std::unique_ptr<TargetLookup> open_alternative(const TargetLookup& own, Target target,
                                               const NamedValues& settings,
                                               std::vector<db::Layer> layers);

/// `other`, if it was measured for exactly these sizes and is faster than the answer of `own`, or
/// that was not measured for them. Else, and if `own` has a pin, `own`. `other` may be null.
TargetLookup& faster_of(TargetLookup& own, TargetLookup* other,
                        std::span<const std::int64_t> sizes);

}  // namespace autotune
