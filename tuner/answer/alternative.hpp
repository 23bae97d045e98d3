// SPDX-License-Identifier: Apache-2.0
// Two targets that compute the same from the same buffers, such as gemm and gemm_split. A lookup
// answers with the one that was measured to be faster, or else is clearly expected to be.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tuner/answer/target_lookup.hpp"

namespace autotune {

/// Opens a lookup of `target` in these layers, on the device and with the policy of `own`. It gets
/// those of the settings that it has. Throws UsageError if its sizes, buffers or scalars differ
/// from those of `own`.
std::unique_ptr<TargetLookup> open_alternative(const TargetLookup& own, Target target,
                                               const NamedValues& settings,
                                               std::vector<db::Layer> layers,
                                               Libraries libraries = {});

/// The alternative that the manifest of `own` names, as `find` returns it. nullptr if there is
/// none, or if it computes something else with these settings.
std::unique_ptr<TargetLookup> open_named_alternative(
    const TargetLookup& own, const std::function<Target(const std::string&)>& find,
    const NamedValues& settings, const std::vector<db::Layer>& layers, Libraries libraries);

/// What the times of two answers are: of the kernel alone, or of the vendor's library where that is
/// faster.
enum class Engines : std::uint8_t { kernels_only, with_libraries };

/// Whether `other`, which computes the same as `own`, is to be preferred: it was tuned for these
/// sizes or others within two doublings, and is faster. Another GPU of the architecture counts as
/// half a doubling. Where both were measured for exactly these sizes, these times decide. Else
/// expected times do, and prefers_alternative() tells whether the lead is clear. A measured time of
/// `own` gives way only for the largest lead. False if `own` is pinned, if a time is unknown, or if
/// a library is expected to be faster than `other`.
bool is_faster(const LookupAnswer& other, const LookupAnswer& own, Engines engines);

/// `other` where is_faster(), else `own`. `other` may be null.
TargetLookup& faster_of(TargetLookup& own, TargetLookup* other, std::span<const std::int64_t> sizes,
                        Engines engines = Engines::with_libraries);

/// Whether the kernel of `other` is expected to be faster than that of `own`, by any lead.
bool may_be_faster(const LookupAnswer& own, const LookupAnswer& other);

}  // namespace autotune
