// SPDX-License-Identifier: Apache-2.0
// The pair of files that a new target starts from.
#pragma once

#include <string>

namespace autotune {

struct TargetFiles {
  std::string source;    // NAME.cu
  std::string manifest;  // NAME.target.toml
};

/// A small kernel over one size N, commented, that tunes as it stands on a GPU and on the host.
/// Throws UsageError when the name is no identifier.
TargetFiles new_target_files(const std::string& name);

}  // namespace autotune
