// SPDX-License-Identifier: Apache-2.0
// Runs of elements that are read or written once: with STREAM 1 the caches let them go first.
#pragma once

#include "element.cuh"

#ifndef AUTOTUNE_HOST
template <int bytes>
struct WordOf;
template <>
struct WordOf<4> {
  typedef int Type;
};
template <>
struct WordOf<8> {
  typedef int2 Type;
};
template <>
struct WordOf<16> {
  typedef int4 Type;
};
template <int count>
using Word = typename WordOf<count * sizeof(real)>::Type;
#endif

template <int count>
__device__ inline Pack<count> read_once(const real* from) {
#if STREAM && !defined(AUTOTUNE_HOST)
  union Both {
    Word<count> word;
    Pack<count> pack;
    __device__ Both() {}
  } both;
  both.word = __ldcs(reinterpret_cast<const Word<count>*>(from));
  return both.pack;
#else
  return load_pack<count>(from);
#endif
}

template <int count>
__device__ inline void write_once(real* to, const Pack<count>& pack) {
#if STREAM && !defined(AUTOTUNE_HOST)
  union Both {
    Word<count> word;
    Pack<count> pack;
    __device__ Both() {}
  } both;
  both.pack = pack;
  __stcs(reinterpret_cast<Word<count>*>(to), both.word);
#else
  store_pack(to, pack);
#endif
}
