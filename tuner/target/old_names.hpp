// SPDX-License-Identifier: Apache-2.0
// The names of targets that have become part of another. This file goes one release after they
// went, with everything that calls it.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace autotune {

struct OldSize {
  const char *was, *is;
  bool only_for_beta = false;  // of a matrix that is read with scale=beta only: else any value
};

struct OldName {
  std::string_view name, now;
  std::span<const OldSize> sizes;  // in the old target's order; all had to be given
};

/// nullptr if this is no old name, or list_targets(installed) has a target of this name.
const OldName* old_name(std::string_view name,
                        std::span<const std::filesystem::path> installed = {});

}  // namespace autotune
