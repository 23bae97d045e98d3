// SPDX-License-Identifier: Apache-2.0
// The pair of files that a new target starts from.
#pragma once

#include <string>

namespace autotune {

struct TargetFiles {
  std::string source;    // NAME.cu
  std::string manifest;  // NAME.target.toml
};

/// A small commented kernel over one size N, ready to tune on a GPU and on the host. Throws
/// UsageError if the name is not an identifier.
TargetFiles new_target_files(const std::string& name);

}  // namespace autotune
