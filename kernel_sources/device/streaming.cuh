// SPDX-License-Identifier: Apache-2.0
// Vectors that are read or written once. With `stream` they are the first that the caches evict.
#pragma once

#include "number.cuh"
#ifdef AUTOTUNE_HOST
#include "on_host/streaming.cuh"
#else

template <int bytes>
struct WordOf;
template <>
struct WordOf<1> {
  typedef signed char Type;
};
template <>
struct WordOf<2> {
  typedef short Type;
};
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

/// The same bytes as a vector of elements and as the word that __ldcs and __stcs take.
template <int count>
union StreamedVector {
  typedef typename WordOf<count * sizeof(real)>::Type Word;
  Word word;
  Vector<count> vector;
  __device__ StreamedVector() {}
};

template <bool stream, int count>
__device__ inline Vector<count> read_once(const real* from) {
  if constexpr (stream) {
    typedef typename StreamedVector<count>::Word Word;
    StreamedVector<count> both;
    both.word = __ldcs(reinterpret_cast<const Word*>(from));
    return both.vector;
  }
  return load_vector<count>(from);
}

template <bool stream, int count>
__device__ inline void write_once(real* to, const Vector<count>& vector) {
  if constexpr (stream) {
    typedef typename StreamedVector<count>::Word Word;
    StreamedVector<count> both;
    both.vector = vector;
    __stcs(reinterpret_cast<Word*>(to), both.word);
    return;
  }
  store_vector(to, vector);
}

#endif
