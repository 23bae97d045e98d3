// SPDX-License-Identifier: Apache-2.0
// As device/streaming.cuh, without the choice.
#pragma once

#include "../number.cuh"

template <bool stream, int count>
inline Vector<count> read_once(const real* from) {
  return load_vector<count>(from);
}
template <bool stream, int count>
inline void write_once(real* to, const Vector<count>& vector) {
  store_vector(to, vector);
}
