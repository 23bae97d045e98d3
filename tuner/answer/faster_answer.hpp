// SPDX-License-Identifier: Apache-2.0
// Which of two answers is faster: of two problems that compute the same, such as a product with
// FP32 units only and with any.
#pragma once

#include <cstdint>

#include "tuner/answer/lookup_answer.hpp"

namespace autotune {

/// What the times of two answers are: of the kernel alone, or of the vendor's library where that is
/// faster.
enum class Engines : std::uint8_t { kernels_only, with_libraries };

/// Whether `other`, which computes the same as `own`, is to be preferred: it was tuned for these
/// sizes or others within two doublings, and is faster. Another GPU of the architecture counts as
/// half a doubling. Where both were measured for exactly these sizes, these times decide. Else
/// expected times do, and has_clear_lead() tells whether the lead is clear. A measured time of
/// `own` gives way only for the largest lead. False if `own` is pinned, if a time is unknown, or if
/// a library is expected to be faster than `other`.
bool is_faster(const LookupAnswer& other, const LookupAnswer& own, Engines engines);

}  // namespace autotune
