// SPDX-License-Identifier: Apache-2.0
// As device/rounding.cuh.
#pragma once

inline unsigned rounded_to_tf32(unsigned bits) { return (bits + 0x1000) & ~0x1FFFu; }

inline unsigned nearest_bf16(float x) {
  const unsigned bits = __float_as_uint(x);
  return bits + 0x7FFF + (bits >> 16 & 1) >> 16;
}
inline unsigned nearest_bf16(float first, float second) {
  return nearest_bf16(second) << 16 | nearest_bf16(first);
}
