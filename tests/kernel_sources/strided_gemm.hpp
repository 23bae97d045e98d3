// SPDX-License-Identifier: Apache-2.0
// What tests of the products with leading dimensions share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/target/manifest.hpp"

namespace autotune::testing {

/// A target of `kernel_sources`.
inline Target shipped(const std::string& name) {
  return load_manifest(AUTOTUNE_SOURCE_DIR "/kernel_sources/" + name + "/" + name + ".target.toml");
}

/// M, N, K, batch, lda, ldb, ldc, ldd, the distances of matrices, and alignments, as far as they
/// are not kDefaultSize.
using DistantSizes = std::vector<std::int64_t>;

inline Problem distant_problem(const Target& target, const DistantSizes& given,
                               const NamedValues& settings) {
  const std::vector<std::string> names = size_names(target);
  NamedValues sizes, free;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] == kDefaultSize) continue;
    (i < target.sizes.size() ? sizes : free).push_back({names[i], given[i]});
  }
  Problem problem = problem_of(target, sizes, settings);
  problem.free = free;
  return problem;
}

}  // namespace autotune::testing
