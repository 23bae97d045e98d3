// SPDX-License-Identifier: Apache-2.0
// What tests of the products with leading dimensions share.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/target/manifest.hpp"

namespace autotune::testing {

/// A target of `kernel_sources`.
inline Target shipped(const std::string& name) {
  return load_manifest(AUTOTUNE_SOURCE_DIR "/kernel_sources/" + name + "/" + name + ".target.toml");
}

/// Leading dimensions are in elements, of matrices in row-major order.
struct StridedSizes {
  std::int64_t m, n, k, lda, ldb, ldc, ldd;
};

inline NamedValues named(const StridedSizes& s) {
  return {{"M", s.m},     {"N", s.n},     {"K", s.k},    {"lda", s.lda},
          {"ldb", s.ldb}, {"ldc", s.ldc}, {"ldd", s.ldd}};
}

}  // namespace autotune::testing
