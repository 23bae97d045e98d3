// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/launch.hpp"

namespace autotune {

/// A source that is called k.cu, without a prelude.
inline SourceUnit cuda_unit(const std::string& text, const std::vector<std::string>& entries = {},
                            const std::vector<std::string>& options = {},
                            const std::vector<std::filesystem::path>& folders = {}) {
  return {"k.cu", "", text, folders, options, entries};
}

}  // namespace autotune
