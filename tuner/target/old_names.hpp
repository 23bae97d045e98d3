// SPDX-License-Identifier: Apache-2.0
// The names of targets that have become part of another, and sources that are as they were. This
// file goes one release after they went, with everything that calls it.
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string_view>

namespace autotune {

struct OldSize {
  const char *was, *is;
  bool only_for_beta = false;  // of a matrix that is read with scale=beta only: else any value
};

/// Of a configuration: a parameter, or one with a value, and what it is now.
struct OldWord {
  std::string_view was, is;  // `SPLIT_K`, `K_PARTS`; `KERNEL=cores`, `KERNEL=tiled …`
};

struct OldName {
  std::string_view name, now;
  std::span<const OldSize> sizes;  // in the old target's order, all to be given; empty: as today's
  // What the target now says and the old one did not, where it is not the default: `math=tf32`, and
  // of every configuration `KERNEL=many`.
  std::string_view settings = "", parameters = "";
  std::span<const OldWord> words = {};
};

/// nullptr if this is no old name, or list_targets(installed) has a target of this name.
const OldName* old_name(std::string_view name,
                        std::span<const std::filesystem::path> installed = {});

/// A source that gives the same machine code as today's, or a space with the same configurations.
struct SameSource {
  std::string_view was, is;  // fingerprints
  // Settings and parameters that are gone, with the value that is meant now: `pad=0`. Problems and
  // configurations with another value are of another source.
  std::string_view gone = "";
  // Words of problems whose machine code is another: `batch=1 epilogue=bias_gelu`.
  std::array<std::string_view, 2> except = {};
};

std::span<const SameSource> same_sources();

/// nullptr if nothing of an earlier version with this fingerprint is known.
const SameSource* same_source(std::string_view fingerprint);

/// Whether a space is today's, or has the same configurations.
bool is_same_space(std::string_view fingerprint, std::string_view now);

}  // namespace autotune
