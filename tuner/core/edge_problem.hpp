// SPDX-License-Identifier: Apache-2.0
// The edge problem: a small problem whose sizes fit no tile, with various free sizes.
#pragma once

#include <optional>
#include <vector>

#include "tuner/core/target.hpp"

namespace autotune {

/// A finalist must also be right here before its time is published. Each size becomes 257, or the
/// next one if it is below 256; a size with a `multiple` becomes the next multiple. A size that
/// would equal another is larger by 2, or two multiples. Fixed sizes and settings stay. nullopt if
/// a file has the expected results, or if a size would change that an input file belongs to.
std::optional<Problem> edge_problem(const Target& target, const Problem& problem);

/// The problems on which a configuration must be right, too.
struct EdgeProblems {
  std::vector<Problem> usual;
  /// For a configuration that is valid on no usual one, as one that wants equal sizes, or one with
  /// many stages of a pipeline.
  std::vector<Problem> longer;

  friend bool operator==(const EdgeProblems&, const EdgeProblems&) = default;
};

/// Usual are the edge problem; with free sizes, further problems whose sizes are multiples of 16,
/// as aligned kernels want them, and fit few tiles: with free sizes at their defaults; with all of
/// them larger by 16 bytes of the elements that they count; with those of one argument larger by an
/// element; with one alignment that of an element. Of the longer ones, the first has equal sizes,
/// if the usual ones differ there. In each other, a size is 1025, or with free sizes 1040, or the
/// next after its own. Without those that the target refuses. Throws Error if a default has no
/// value.
EdgeProblems edge_problems(const Target& target, const Problem& problem, const DeviceInfo& device);

}  // namespace autotune
