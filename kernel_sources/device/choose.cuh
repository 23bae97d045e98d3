// SPDX-License-Identifier: Apache-2.0
// One of two types, as std::conditional.
#pragma once

template <bool kFirst, class First, class Second>
struct Choose {
  typedef First Type;
};
template <class First, class Second>
struct Choose<false, First, Second> {
  typedef Second Type;
};
