// SPDX-License-Identifier: Apache-2.0
// Content addresses and row checks, from xxHash: the only place that includes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace autotune {

/// XXH3, 128 bits, as 32 hexadecimal digits. Not cryptographic.
std::string hash128(std::string_view bytes);
/// XXH3, 64 bits.
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace autotune
